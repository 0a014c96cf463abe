internal import Glibc
import Synchronization

/// One voice at a time holds the host's sound device: the next waits until the one before has put it back.
final class SoundLease: Sendable {
    private let isHeld = Atomic(false)

    /// Waits on the calling thread, which must be one of ours.
    /// - Returns: false where the device did not become free within `limit` or `isClosing` was set.
    func take(within limit: Duration, unless isClosing: borrowing Atomic<Bool>) -> Bool {
        let end = Instant.now + limit
        while isHeld.exchange(true, ordering: .acquiring) {
            if isClosing.load(ordering: .acquiring) || Instant.now >= end { return false }
            usleep(1_000)
        }
        return true
    }

    func giveBack() {
        isHeld.store(false, ordering: .releasing)
    }
}
