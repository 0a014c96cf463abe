/// How much faster or slower one clock runs than another, from the least distance between them in each 10 s.
///
/// A Playout owns two: the sender's clock against ours by the packets' arrivals, the sound card's against ours by its pulls. Delays on
/// the way only ever add to a distance, so that the least of many is the clocks' own. Times are in samples of 48 kHz.
struct DriftEstimate: ~Copyable {
    /// 10 s.
    private static let windowSampleCount: Int64 = 480_000
    /// 5 minutes.
    private static let windowCount = 30
    /// 30 ms: no clock drifts so far in 10 s, it is another way through the network.
    private static let jumpSampleCount: Int64 = 1_440
    /// No quartz is worse.
    private static let limit = 1_000e-6

    /// Not private: Swift 6.0.3 then emits a broken module.
    struct Window: BitwiseCopyable {
        var time: Double = 0
        var distance: Double = 0
    }

    private let windows = FixedBuffer<Window>(repeating: Window(), count: windowCount)
    private var count = 0
    private var next = 0
    private var start: Int64?
    private var least: Int64 = 0
    private var leastTime: Int64 = 0
    private var origin: (time: Int64, distance: Int64) = (0, 0)
    /// How much the distance grows in each sample of time; 0 while that cannot be told from chance.
    private(set) var slope: Double = 0

    /// - Parameter distance: our clock less the other one, in samples.
    mutating func record(distance: Int64, at now: Int64) {
        guard let start else { return begin(distance, at: now) }
        let moved = distance &- least
        if moved < -Self.jumpSampleCount || now &- start > 3 * Self.windowSampleCount {
            forget()
            return begin(distance, at: now)
        }
        if now &- start >= Self.windowSampleCount {
            close()
            self.start = now
            (least, leastTime) = (distance, now)
        } else if distance < least {
            (least, leastTime) = (distance, now)
        }
    }

    /// One of the clocks is another one now, or was set.
    mutating func forget() {
        count = 0
        next = 0
        start = nil
        slope = 0
    }

    private mutating func begin(_ distance: Int64, at now: Int64) {
        start = now
        (least, leastTime) = (distance, now)
        origin = (now, distance)
    }

    private mutating func close() {
        let window = Window(
            time: Double(leastTime &- origin.time), distance: Double(least &- origin.distance))
        let last = windows[(next + Self.windowCount - 1) % Self.windowCount]
        if count > 0, abs(window.distance - last.distance) > Double(Self.jumpSampleCount) {
            count = 0
            next = 0
        }
        windows[next] = window
        next = (next + 1) % Self.windowCount
        count = min(count + 1, Self.windowCount)
        fit()
    }

    /// A straight line through the windows by least squares, and whether its slope is more than twice its own error.
    private mutating func fit() {
        slope = 0
        guard count >= 3 else { return }
        var (meanTime, meanDistance) = (0.0, 0.0)
        for index in 0..<count {
            meanTime += windows[index].time / Double(count)
            meanDistance += windows[index].distance / Double(count)
        }
        var (square, product, spread) = (0.0, 0.0, 0.0)
        for index in 0..<count {
            let (x, y) = (windows[index].time - meanTime, windows[index].distance - meanDistance)
            square += x * x
            product += x * y
            spread += y * y
        }
        guard square > 0 else { return }
        let found = product / square
        let rest = max(0, spread - found * product) / Double(count - 2)
        guard found * found > 4 * rest / square else { return }
        slope = max(-Self.limit, min(Self.limit, found))
    }
}
