/// How long sound was on its way, over a voice. Pure; a thread owns it and tells it at the voice's end.
struct SoundDelay {
    private(set) var count = 0
    private var sum: Int64 = 0
    private var shareSum: Int64 = 0
    private(set) var longest = Duration.zero

    /// - Parameters:
    ///   - delay: of one packet or frame; a negative one, from a clock that is no clock, does not count.
    ///   - share: the part of it that is told apart.
    mutating func add(_ delay: Duration, share: Duration = .zero) {
        guard delay >= .zero else { return }
        count += 1
        // 292 years of delay before it wraps.
        sum &+= delay.wholeNanoseconds
        shareSum &+= share.wholeNanoseconds
        longest = max(longest, delay)
    }

    var mean: Duration { .nanoseconds(sum / Int64(max(1, count))) }
    var meanShare: Duration { .nanoseconds(shareSum / Int64(max(1, count))) }
}
