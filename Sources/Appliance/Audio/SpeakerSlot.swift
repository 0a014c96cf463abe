import Synchronization
import VoiceCore

/// Where the tones' thread leaves its open speaker for the voice that waits for it, so that it is neither closed nor opened again.
final class SpeakerSlot<Playback: AudioPlayback>: Sendable {
    /// A speaker on its way from one thread to the next.
    ///
    /// Sendable: whoever puts it here lets go of it, and one alone takes it out.
    private struct Handed: @unchecked Sendable {
        let playback: Playback
    }

    private let handed = Mutex<Handed?>(nil)

    func put(_ playback: Playback) {
        let new = Handed(playback: playback)
        handed.withLock { $0 = new }
    }

    /// - Returns: nil where nothing lies here.
    func take() -> Playback? {
        handed.withLock { handed in
            defer { handed = nil }
            return handed
        }?.playback
    }
}
