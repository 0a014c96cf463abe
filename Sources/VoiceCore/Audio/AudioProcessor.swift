internal import CAudioProcessing

/// The place of echo cancelling, noise suppression and level control, between the microphone and the gate.
///
/// The capture thread owns it: far-end frames that are due come first, then the near end of the same moment. It passes sound through
/// for now; the library's object is made only where it is asked for, because it takes a megabyte.
struct AudioProcessor: ~Copyable {
    private let processing: OpaquePointer?

    /// - Parameter usesLibrary: makes the audio processing library's object.
    /// - Returns: nil where the library cannot make it.
    init?(usesLibrary: Bool = false) {
        guard usesLibrary else {
            processing = nil
            return
        }
        guard let processing = talkpost_audio_processing_create() else { return nil }
        self.processing = processing
    }

    deinit {
        if let processing { talkpost_audio_processing_destroy(processing) }
    }

    /// What the speaker plays.
    /// - Parameters:
    ///   - frame: 480 samples, mono, 48 kHz, Int16, as really written to the card.
    ///   - instant: when its first sample sounds.
    mutating func farEnd(_ frame: UnsafeBufferPointer<Int16>, playsAt instant: Instant) {
        precondition(frame.count == AudioFormat.frameSampleCount)
    }

    /// What the microphone hears.
    /// - Parameters:
    ///   - frame: 480 samples, mono, 48 kHz, Int16, changed in place.
    ///   - instant: when its last sample was in front of the microphone.
    mutating func nearEnd(_ frame: UnsafeMutableBufferPointer<Int16>, capturedAt instant: Instant) {
        precondition(frame.count == AudioFormat.frameSampleCount)
    }

    /// The version of the library this was built with, for example "0.3" or "1.3".
    static var libraryVersion: String { String(cString: talkpost_audio_processing_version()) }
}
