/// How far the delay is from what it should be, and by which means it is brought there so that nobody hears it.
///
/// A Playout owns it. What the arrivals ask for, and 10 ms for a sound card that takes 10 ms at once, is the least delay; a little above it, the
/// delay is left as it is. In a pause it is set right at once. In sound it waits for a pause, for 4 s; then periods are added or
/// left out where the sound is nearly the same after them, and for the rest 2 samples in a thousand, a thirtieth of a semitone. Only where
/// sound is about to be missing, or is late by much, does speech give way sooner. Times are in samples of 48 kHz.
struct DelayControl: Sendable {
    /// What a Playout may do to the sound it has just decoded.
    struct Stretch: Equatable, Sendable {
        /// How much longer it may become, or shorter where it is below 0.
        var change: Int
        /// How like each other the sounds must be that are laid over each other.
        var likeness: Float
    }

    private static let frame = Int64(AudioFormat.frameSampleCount)
    /// 100 ms above what it should be speech is sped up, at 150 and 250 ms by ever less gentle means.
    private static let excessSteps: (first: Int64, second: Int64, third: Int64) = (4_800, 7_200, 12_000)
    /// How long a pause is waited for: 4 s, and 6 s before samples are slipped.
    private static let patience = (stretch: 400, slip: 600)

    /// The least delay of late: a card that asks at uneven times needs that one.
    private(set) var lowest: Float?
    private var outsideFrames = 0
    private var framesSinceStretch = 0
    /// What the clocks' drift has come to and was not yet made up for.
    private var drift: Double = 0

    /// The delays between which nothing is done: 4 ms apart, and wider where packets come unevenly.
    static func band(of target: Int64) -> ClosedRange<Int64> {
        let goal = target + frame
        return goal - target / 8...goal + max(192, target / 5)
    }

    /// Takes one frame into account.
    /// - Parameter drift: how much of a sample is to be added in each sample, by the clocks alone.
    mutating func note(delay: Int64, target: Int64, drift rate: Double) {
        let delay = Float(delay)
        lowest = min(delay, lowest.map { $0 + (delay - $0) / 64 } ?? delay)
        outsideFrames = error(target) == 0 ? 0 : outsideFrames + 1
        framesSinceStretch += 1
        drift = max(-8, min(8, drift + rate * Double(Self.frame)))
    }

    /// The time line is another one.
    mutating func forget() {
        lowest = nil
        outsideFrames = 0
    }

    /// By how much the delay is too large, or too small (below 0).
    func error(_ target: Int64) -> Int64 {
        guard let lowest else { return 0 }
        let (delay, band) = (Int64(lowest), Self.band(of: target))
        return delay > band.upperBound ? delay - band.upperBound : min(0, delay - band.lowerBound)
    }

    /// - Parameters:
    ///   - isQuiet: whether the sound is a pause.
    ///   - mayHurry: whether speech may be sped up.
    /// - Returns: nil where the sound is to stay as it is.
    func stretch(target: Int64, isQuiet: Bool, mayHurry: Bool) -> Stretch? {
        let error = error(target)
        guard let lowest, error != 0, error < 0 || isQuiet || mayHurry else { return nil }
        let band = Self.band(of: target)
        let change = Int((band.lowerBound + band.upperBound) / 2 - Int64(lowest))
        if isQuiet { return Stretch(change: change, likeness: -1) }
        let (first, second, third) = Self.excessSteps
        // Less than what the arrivals ask for: the next packet may be missing when it is due.
        let isUrgent = Int64(lowest) < target || error > first
        guard framesSinceStretch >= (error > second ? 2 : 6) else { return nil }
        if error > third { return Stretch(change: change, likeness: 0.3) }
        if error > second { return Stretch(change: change, likeness: 0.6) }
        if isUrgent { return Stretch(change: change, likeness: 0.85) }
        return outsideFrames >= Self.patience.stretch ? Stretch(change: change, likeness: 0.97) : nil
    }

    /// The delay became that much longer by stretching.
    mutating func noteStretch(_ change: Int) {
        guard change != 0 else { return }
        framesSinceStretch = 0
        lowest = lowest.map { $0 + Float(change) }
    }

    /// How many samples the next frame is to be made of less than it has (1), or more (-1).
    func slip(target: Int64) -> Int {
        let error = error(target)
        if outsideFrames >= Self.patience.slip, error != 0 { return error > 0 ? -1 : 1 }
        return drift >= 1 ? 1 : drift <= -1 ? -1 : 0
    }

    mutating func noteSlip(_ change: Int) {
        guard change != 0 else { return }
        lowest = lowest.map { $0 + Float(change) }
        drift -= Double(change)
        // What was slipped for the delay's sake is no debt of the clocks.
        if outsideFrames >= Self.patience.slip { drift = 0 }
    }
}
