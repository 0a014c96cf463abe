import Dispatch
import Glibc

/// Calls its owner on the main actor, once at a time or again and again. Lives there; ends when it is let go of.
@MainActor
final class GPIOTimer {
    private let source: any DispatchSourceTimer

    /// Time since the zero of CLOCK_MONOTONIC, the kernel's clock for edges.
    nonisolated static func now() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    init(_ fired: @escaping @MainActor () -> Void) {
        source = DispatchSource.makeTimerSource(flags: .strict, queue: .main)
        // Dispatch calls it on the main queue, which is the main actor's.
        source.setEventHandler { MainActor.assumeIsolated { fired() } }
        source.resume()
    }

    /// Fires once, this long from now; nil: not at all. What was set before counts no more.
    func set(in wait: Duration?) {
        source.schedule(deadline: wait.map { .now() + Self.interval(max(.zero, $0)) } ?? .distantFuture)
    }

    /// Fires again and again; the first time after one period.
    func set(every period: Duration, leeway: Duration) {
        let interval = Self.interval(period)
        source.schedule(deadline: .now() + interval, repeating: interval, leeway: Self.interval(leeway))
    }

    private static func interval(_ duration: Duration) -> DispatchTimeInterval {
        let (seconds, attoseconds) = duration.components
        // Whole microseconds, rounded up, so that it is never early.
        return .microseconds(Int(clamping: seconds) &* 1_000_000 &+ Int(attoseconds / 1_000_000_000_000) &+ 1)
    }
}
