import Glibc
import VoiceCore

extension Instant {
    /// CLOCK_MONOTONIC now.
    static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)  // cannot fail for this clock
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
