import VoiceCore

/// Lets one task wait, for a bounded time, until something has come true. Lives on the main actor.
@MainActor
final class Signal {
    private var waiting: CheckedContinuation<Bool, Never>?
    private var waitCount = 0

    /// Waits until `fire` is called.
    /// - Returns: false where the time ran out first.
    func wait(atMost limit: Duration) async -> Bool {
        waitCount += 1
        let number = waitCount
        let timeout = Task { [weak self] in
            guard (try? await Task.sleep(for: limit, clock: SuspendingClock())) != nil, let self else { return }
            if self.waitCount == number { self.resume(false) }
        }
        defer { timeout.cancel() }
        return await withCheckedContinuation { waiting = $0 }
    }

    /// Ends the wait that is under way; without one nothing happens.
    func fire() { resume(true) }

    private func resume(_ fired: Bool) {
        waiting?.resume(returning: fired)
        waiting = nil
    }
}
