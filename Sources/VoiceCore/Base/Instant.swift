/// A point on the one clock of the project: CLOCK_MONOTONIC, in nanoseconds.
///
/// ALSA, GPIO edges and epoll use the same clock. Pure code takes it as its last parameter `at now:` and never reads it;
/// only Runtime and the applications make one from the system's clock.
public struct Instant: Hashable, Comparable, BitwiseCopyable, Sendable {
    /// Nanoseconds since the clock's zero (the machine's start).
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Wraps rather than traps: a duration from a far-off peer must not end the process.
    public static func + (a: Instant, b: Duration) -> Instant {
        Instant(nanoseconds: a.nanoseconds &+ b.wholeNanoseconds)
    }

    public static func - (a: Instant, b: Duration) -> Instant {
        Instant(nanoseconds: a.nanoseconds &- b.wholeNanoseconds)
    }

    /// How much later `a` is than `b`; negative where it is earlier.
    public static func - (a: Instant, b: Instant) -> Duration {
        .nanoseconds(a.nanoseconds &- b.nanoseconds)
    }
}

extension Instant {
    /// The earlier of two, either of which may be missing.
    static func earlier(_ a: Instant?, _ b: Instant?) -> Instant? {
        guard let a, let b else { return a ?? b }
        return min(a, b)
    }
}

extension Duration {
    /// The duration in nanoseconds, clamped to what 64 bits hold (292 years).
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds, for logs and statistics.
    public var inSeconds: Double { Double(wholeNanoseconds) / 1e9 }
}
