internal import Glibc
import Synchronization

/// When a thread of ours last turned: it says so at each turn of its loop, whoever watches over the process looks.
///
/// A thread that has nothing to do still turns at least each `longestRest`; one that waits longer than that is stuck.
final class Pulse: Sendable {
    /// Rare enough to cost an idle box nothing, often enough for a watchdog of a few seconds.
    static let longestRest: Duration = .seconds(2)

    let name: String
    private let nanoseconds: Atomic<Int64>

    init(_ name: String, at now: Instant) {
        self.name = name
        nanoseconds = Atomic(now.nanoseconds)
    }

    /// The thread turns. On that thread alone; costs one store.
    func beat(at now: Instant) {
        nanoseconds.store(now.nanoseconds, ordering: .relaxed)
    }

    var lastBeat: Instant { Instant(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
}

/// The pulses of all threads of ours that live. Shared by the process; from any thread.
enum LivePulses {
    private static let pulses = Mutex<[Pulse]>([])

    static var all: [Pulse] { pulses.withLock { $0 } }

    static func add(_ pulse: Pulse) {
        pulses.withLock { $0.append(pulse) }
    }

    static func remove(_ pulse: Pulse) {
        pulses.withLock { $0.removeAll { $0 === pulse } }
    }
}
