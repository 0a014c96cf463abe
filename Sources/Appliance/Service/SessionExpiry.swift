import VoiceCore

/// When a session ends that the provider gives a date.
enum SessionExpiry {
    /// A date that is not between these from now is a clock's mistake, ours or the provider's.
    private static let plausible = 30.0...7200.0

    /// - Parameters:
    ///   - date: seconds since 1970.
    ///   - wall: the same of now.
    /// - Returns: nil where it is not plausible.
    static func instant(of date: Double, wall: Double = Double(WallClock.now()), at instant: Instant = Instant.now())
        -> Instant?
    {
        let seconds = date - wall
        return plausible.contains(seconds) ? instant + .milliseconds(Int(seconds * 1000)) : nil
    }
}
