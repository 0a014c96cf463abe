/// How much sound waits in a card before the speaker: little, for a quick answer, and more only for as long as it underruns.
///
/// Pure; a playback stream owns it. Times are since the zero of CLOCK_MONOTONIC.
struct FillLevel {
    /// After so long without an underrun one step is taken back.
    private static let calm: Duration = .seconds(20)
    private static let step: Duration = .milliseconds(10)
    /// Beyond this a call would feel slow, and a machine that needs more has another fault.
    static let most: Duration = .milliseconds(80)

    /// The least that this card's period allows: one period that sounds while the next frame is made, and the frame.
    let least: Duration
    /// What is in the card after each write, at most.
    private(set) var target: Duration
    private var changedAt: Duration

    /// - Parameter period: how often the card calls.
    init(period: Duration, at now: Duration) {
        least = max(.milliseconds(20), period + .milliseconds(10))
        target = least
        changedAt = now
    }

    /// The card ran out of sound.
    mutating func underran(at now: Duration) {
        target = min(max(Self.most, least), target + Self.step)
        changedAt = now
    }

    /// A frame was written in time.
    /// - Returns: whether the target became lower.
    mutating func wrote(at now: Duration) -> Bool {
        guard target > least, now - changedAt >= Self.calm else { return false }
        target = max(least, target - Self.step)
        changedAt = now
        return true
    }
}
