/// How long sound has to wait so that it is there when it is due, learnt from when packets come.
///
/// A Playout owns it. A packet's lateness is how much later it came than the fastest of the last 128 did, measured on its own
/// timestamp. A histogram of lateness that slowly forgets gives the target: what 97 of 100 packets keep to. One packet that is late
/// therefore changes nothing, and a sender that paused is not taken for a slow network. Times are in samples of 48 kHz.
struct DelayEstimate: ~Copyable {
    private static let windowCount = 128
    /// 5 ms.
    private static let binSampleCount: Int64 = 240
    /// 500 ms.
    private static let binCount = 100
    /// The share of packets that must come in time.
    private static let quantile: Float = 0.97
    /// How fast old arrivals are forgotten: a share of 1/e is left after 500 packets, 10 s.
    private static let forgetting: Float = 1.0 / 500
    /// Whoever is later than this, or earlier, is on another time line: 1 s.
    private static let jumpSampleCount: Int64 = 48_000
    /// A packet that is late because none came for this long says that the sender paused, or that the network stood still;
    /// the packets after it tell which: 200 ms.
    private static let pauseSampleCount: Int64 = 9_600

    private let offsets = FixedBuffer<Int64>(repeating: 0, count: windowCount)
    private var offsetCount = 0
    private var nextOffset = 0
    private let histogram = FixedBuffer<Float>(repeating: 0, count: binCount)
    private var recordCount = 0
    private var lastArrival: Int64 = 0
    /// The clock's sample count less the timestamp, for the fastest packet of the window.
    private(set) var base: Int64 = 0
    /// How much later than the fastest packet would allow sound should play: 5 to 500 ms once a packet came.
    private(set) var target: Int64 = 0

    /// Takes one packet into account, late ones too, but no duplicate.
    mutating func record(timestamp: Int64, arrival: Int64) {
        let offset = arrival &- timestamp
        let sinceLast = arrival &- lastArrival
        lastArrival = max(lastArrival, arrival)
        var lateness = offset &- base
        let paused = sinceLast >= Self.pauseSampleCount && lateness >= Self.pauseSampleCount / 2
        let isNewLine =
            offsetCount == 0 || paused || lateness < -Self.jumpSampleCount || lateness > Self.jumpSampleCount
        if isNewLine {
            offsetCount = 0
            nextOffset = 0
        }
        add(offset)
        lateness = offset &- base
        count(lateness)
    }

    /// Forgets the time line but not what was learnt of the network.
    mutating func forgetTimeLine() {
        offsetCount = 0
        nextOffset = 0
    }

    private mutating func add(_ offset: Int64) {
        offsets[nextOffset] = offset
        nextOffset = (nextOffset + 1) % Self.windowCount
        offsetCount = min(offsetCount + 1, Self.windowCount)
        base = offset
        for index in 0..<offsetCount { base = min(base, offsets[index]) }
    }

    private mutating func count(_ lateness: Int64) {
        // At first every packet weighs the same, so that a few suffice.
        recordCount = min(recordCount + 1, 1_000_000)
        let weight = max(Self.forgetting, 1 / Float(recordCount))
        let bin = min(max(lateness, 0) / Self.binSampleCount, Int64(Self.binCount - 1))
        for index in 0..<Self.binCount { histogram[index] *= 1 - weight }
        histogram[Int(bin)] += weight
        var sum: Float = 0
        target = Int64(Self.binCount) * Self.binSampleCount
        for index in 0..<Self.binCount {
            sum += histogram[index]
            if sum >= Self.quantile {
                target = Int64(index + 1) * Self.binSampleCount
                break
            }
        }
    }
}
