/// How long sound has to wait so that it is there when it is due, learnt from when packets come.
///
/// A Playout owns it. A packet's lateness is how much later it came than the fastest of the last 384 did, measured on its own
/// timestamp. A histogram of lateness that slowly forgets gives the target: the delay from which on waiting longer costs more than the
/// packets that come too late otherwise. One packet that is late therefore changes nothing, a network that stands still more often than each 1.1 s
/// does, and a sender that paused is not taken for a slow network. Times are in samples of 48 kHz.
struct DelayEstimate: ~Copyable {
    private static let windowCount = 384
    /// 2.5 ms.
    private static let binSampleCount: Int64 = 120
    /// 500 ms.
    private static let binCount = 200
    /// One packet in a hundred that comes too late is worth a delay of 11 ms: with lateness spread normally by 30 ms that is
    /// what 99 of 100 packets keep to, and about the delay that libwebrtc's NetEQ has there.
    private static let lateCost: Float = 1_100 * 48
    /// How fast old arrivals are forgotten: a share of 1/e is left after 500 packets, 10 s.
    private static let forgetting: Float = 1.0 / 500
    /// As if so many packets had come in time before the first: the first few alone say little.
    private static let priorCount = 40
    /// Whoever is later than this, or earlier, is on another time line: 1 s.
    private static let jumpSampleCount: Int64 = 48_000
    /// A packet that is late because none came for this long says that the sender paused, or that the network stood still;
    /// the packets after it tell which: 200 ms.
    private static let pauseSampleCount: Int64 = 9_600
    /// A network that stood still is as fast as before again within this: 10 ms.
    private static let sameSampleCount: Int64 = 480

    private let offsets = FixedBuffer<Int64>(repeating: 0, count: windowCount)
    private var offsetCount = 0
    private var nextOffset = 0
    private let histogram = FixedBuffer<Float>(repeating: 0, count: binCount)
    private var recordCount = 0
    private var lastArrival: Int64 = 0
    /// The offsets of packets after a standstill, until it is known which kind it was; and the base before it.
    private let held = FixedBuffer<Int64>(repeating: 0, count: 64)
    private var heldCount = 0
    private var baseBefore: Int64?
    /// The clock's sample count less the timestamp, for the fastest packet of the window.
    private(set) var base: Int64 = 0
    /// How much later than the fastest packet would allow sound should play: 2.5 to 500 ms once a packet came.
    private(set) var target: Int64 = 0

    init() {
        histogram[0] = 1
        recordCount = Self.priorCount
    }

    /// Takes one packet into account, late ones too, but no duplicate.
    /// - Returns: whether its timestamps are on another time line than those before.
    mutating func record(timestamp: Int64, arrival: Int64) -> Bool {
        let offset = arrival &- timestamp
        let sinceLast = arrival &- lastArrival
        lastArrival = max(lastArrival, arrival)
        let lateness = offset &- base
        let paused = sinceLast >= Self.pauseSampleCount && lateness >= Self.pauseSampleCount / 2
        let jumped = lateness < -Self.jumpSampleCount || lateness > Self.jumpSampleCount
        let isNewLine = offsetCount == 0 || paused || jumped
        if isNewLine {
            baseBefore = offsetCount > 0 && !jumped ? base : nil
            heldCount = 0
            forgetOffsets()
        }
        add(offset)
        if baseBefore != nil { hold(offset) } else { count(offset &- base) }
        choose()
        return isNewLine
    }

    /// Forgets the time line but not what was learnt of the network.
    mutating func forgetTimeLine() {
        baseBefore = nil
        forgetOffsets()
    }

    private mutating func forgetOffsets() {
        offsetCount = 0
        nextOffset = 0
    }

    private mutating func add(_ offset: Int64) {
        offsets[nextOffset] = offset
        nextOffset = (nextOffset + 1) % Self.windowCount
        offsetCount = min(offsetCount + 1, Self.windowCount)
        base = offset
        for index in 0..<offsetCount { base = min(base, offsets.elements[index]) }
    }

    /// After a standstill: where packets are as fast as before again, it was the network's, and those that it held up were late.
    private mutating func hold(_ offset: Int64) {
        held[heldCount] = offset
        heldCount += 1
        guard let before = baseBefore else { return }
        let isSame = offset <= before + Self.sameSampleCount
        guard isSame || heldCount == held.count else { return }
        baseBefore = nil
        for index in 0..<heldCount { count(isSame ? held[index] &- base : 0) }
    }

    private mutating func count(_ lateness: Int64) {
        // At first every packet weighs the same, so that a few suffice.
        recordCount = min(recordCount + 1, 1_000_000)
        let weight = max(Self.forgetting, 1 / Float(recordCount))
        let bin = min(max(lateness, 0) / Self.binSampleCount, Int64(Self.binCount - 1))
        for index in 0..<Self.binCount { histogram.elements[index] *= 1 - weight }
        histogram[Int(bin)] += weight
    }

    private mutating func choose() {
        var late: Float = 1
        var least = Float.infinity
        for index in 0..<Self.binCount {
            late -= histogram.elements[index]
            let delay = Float(index + 1) * Float(Self.binSampleCount)
            let cost = delay + Self.lateCost * max(0, late)
            guard cost < least else { continue }
            least = cost
            target = Int64(delay)
        }
    }
}
