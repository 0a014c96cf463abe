import Glibc
import VoiceCore

/// Paces frames of 10 ms by CLOCK_MONOTONIC as a sound card's crystal would: frame n is due at the start plus n times 10 ms, so
/// that no delay adds up.
///
/// Owned by one capture or playback, on its thread. Never allocates.
struct FrameClock {
    static let frameNanoseconds: Int64 = 10_000_000
    /// A thread that comes later than this was stopped: what it missed is left out, as a card would have lost it.
    private static let lateLimit: Int64 = 1_000_000_000

    private let start: Instant
    private(set) var frameIndex: Int64 = 0

    init(start: Instant) {
        self.start = start
    }

    /// When the frame that is next is due.
    var due: Instant { Instant(nanoseconds: start.nanoseconds &+ frameIndex &* Self.frameNanoseconds) }

    /// Leaves frames out.
    mutating func skip(_ frameCount: Int64) {
        frameIndex &+= frameCount
    }

    /// Sleeps until the next frame is due.
    func sleepUntilDue() {
        Self.sleep(until: due)
    }

    /// Sleeps until the next frame is due, and moves on by one.
    /// - Returns: when it was due, and how many frames before it were missed.
    mutating func wait() -> (due: Instant, missedFrames: Int64) {
        let lateness = Instant.now().nanoseconds &- due.nanoseconds
        let missed = lateness > Self.lateLimit ? lateness / Self.frameNanoseconds : 0
        frameIndex &+= missed
        let due = due
        if lateness < 0 { Self.sleep(until: due) }
        frameIndex &+= 1
        return (due, missed)
    }

    private static func sleep(until instant: Instant) {
        var time = timespec(
            tv_sec: Int(instant.nanoseconds / 1_000_000_000), tv_nsec: Int(instant.nanoseconds % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}
