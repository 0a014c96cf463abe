import Synchronization

/// A caller waiting for the backend thread.
typealias PendingResponse = Pending<HTTPResponse>

/// One caller waiting for what somebody else does. Resumed exactly once: by the outcome, or at once where its task is cancelled.
///
/// Shared by the caller and who does it; whoever comes first decides.
final class Pending<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, BackendError>

    private enum State {
        case waiting(CheckedContinuation<Value, any Error>?)
        case settled(Result<Value, any Error>)
        case taken
    }

    private let state = Mutex(State.waiting(nil))

    /// - Parameter onCancel: called once where the caller gave up before there was an outcome.
    /// - Throws: `BackendError`, or `CancellationError` where the task was cancelled.
    func value(onCancel: @escaping @Sendable () -> Void) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let settled = state.withLock { state -> Result<Value, any Error>? in
                    guard case .settled(let result) = state else {
                        state = .waiting(continuation)
                        return nil
                    }
                    state = .taken
                    return result
                }
                if let settled { continuation.resume(with: settled) }
            }
        } onCancel: {
            if settle(.failure(CancellationError())) { onCancel() }
        }
    }

    /// - Returns: false where nobody waits any longer.
    func settle(_ outcome: Outcome) -> Bool {
        settle(outcome.mapError { $0 as any Error })
    }

    /// Whether the caller has given up or been served.
    var isSettled: Bool {
        state.withLock {
            if case .waiting = $0 { false } else { true }
        }
    }

    private func settle(_ result: Result<Value, any Error>) -> Bool {
        let (first, continuation) = state.withLock { state -> (Bool, CheckedContinuation<Value, any Error>?) in
            guard case .waiting(let continuation) = state else { return (false, nil) }
            state = continuation == nil ? .settled(result) : .taken
            return (true, continuation)
        }
        continuation?.resume(with: result)
        return first
    }
}
