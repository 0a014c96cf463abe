import Synchronization

/// The one answer that a task awaits from a thread of ours. Given once; what comes later is dropped.
///
/// A voice that is closed answers for its thread, so that nobody waits for a stalled card or an ended thread.
final class Reply<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Value, PBVoiceError>, Never>
    private enum Phase {
        case unanswered
        case waiting(Waiter)
        case given(Result<Value, PBVoiceError>)
        case taken
    }
    private let phase = Mutex(Phase.unanswered)

    func give(_ result: Result<Value, PBVoiceError>) {
        let waiter: Waiter? = phase.withLock { phase in
            switch phase {
            case .unanswered:
                phase = .given(result)
                return nil
            case .waiting(let waiter):
                phase = .taken
                return waiter
            case .given, .taken:
                return nil
            }
        }
        waiter?.resume(returning: result)
    }

    /// Waits for the answer; asked once.
    func value() async throws(PBVoiceError) -> Value {
        try await withCheckedContinuation { (waiter: Waiter) in
            let ready: Result<Value, PBVoiceError>? = phase.withLock { phase in
                if case .given(let result) = phase {
                    phase = .taken
                    return result
                }
                phase = .waiting(waiter)
                return nil
            }
            if let ready { waiter.resume(returning: ready) }
        }.get()
    }
}
