import Synchronization

/// One caller waiting for the backend thread. Resumed exactly once: by the answer, or at once where its task is cancelled.
///
/// Shared by the caller and the backend thread; whoever comes first decides.
final class PendingResponse: Sendable {
    typealias Outcome = Result<HTTPResponse, BackendError>

    private enum State {
        case waiting(CheckedContinuation<HTTPResponse, any Error>?)
        case settled(Result<HTTPResponse, any Error>)
        case taken
    }

    private let state = Mutex(State.waiting(nil))

    /// - Parameter onCancel: called once where the caller gave up before there was an outcome.
    /// - Throws: `BackendError`, or `CancellationError` where the task was cancelled.
    func value(onCancel: @escaping @Sendable () -> Void) async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let settled = state.withLock { state -> Result<HTTPResponse, any Error>? in
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

    private func settle(_ result: Result<HTTPResponse, any Error>) -> Bool {
        let (first, continuation) = state.withLock { state -> (Bool, CheckedContinuation<HTTPResponse, any Error>?) in
            guard case .waiting(let continuation) = state else { return (false, nil) }
            state = continuation == nil ? .settled(result) : .taken
            return (true, continuation)
        }
        continuation?.resume(with: result)
        return first
    }
}
