/// The sound device that the host lends to its voices (`PBVoice.audioDevice`).
///
/// VoiceCore knows no ALSA: it asks this for frames and hands frames to it. A frame is 480 samples, mono, 48 kHz, Int16: 10 ms.
/// One voice at a time uses it. The order of calls is: `openCapture`, `activate`, `openPlayback`, reads and writes,
/// both closed by being let go of, `deactivate`.
public protocol AudioDevice: Sendable {
    associatedtype Capture: AudioCapture
    associatedtype Playback: AudioPlayback

    /// Asks for the microphone. On the capture thread; may take its time, nothing is posted to a backend before it returns.
    /// - Throws: why it cannot be had; the voice then ends with `microphone_denied`.
    func openCapture() throws(AudioDeviceError) -> Capture

    /// Sets the session up for voice chat (`.managed`), or leaves all as it is (`.app`). On the capture thread.
    func activate(_ session: PBAudioSession) throws(AudioDeviceError)

    /// Opens the speaker. On the playback thread.
    func openPlayback() throws(AudioDeviceError) -> Playback

    /// Undoes `activate`: called once when capture and playback are closed. On the capture thread.
    func deactivate()
}

/// An open microphone. Lives on the capture thread and is closed by being let go of.
public protocol AudioCapture {
    /// Blocks until the next 10 ms are there, at most 100 ms, and never allocates.
    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16, filled where an instant is returned.
    /// - Returns: when the last sample was in front of the microphone; nil where nothing came in time.
    /// - Throws: the device is gone; the voice goes on in silence and asks again.
    mutating func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant?
}

/// An open speaker. Lives on the playback thread and is closed by being let go of.
public protocol AudioPlayback {
    /// Blocks until the device has room for 10 ms more, at most 100 ms, and never allocates: what is made for it then is as new as
    /// it can be. A device that cannot tell leaves this out and lets `write` block.
    /// - Throws: as `write`.
    mutating func awaitRoom() throws(AudioDeviceError)

    /// Blocks until the device takes 10 ms more, at most 100 ms, and never allocates. Its pace is the playout clock.
    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16. The device may change it; what it leaves in it is what was played, which
    ///   echo cancelling compares with what the microphone hears.
    /// - Returns: when the first of the samples will sound; nil where the device took nothing in time.
    /// - Throws: the device is gone; the voice goes on unheard and asks again.
    mutating func write(_ frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant?
}

extension AudioPlayback {
    /// Returns at once.
    public mutating func awaitRoom() throws(AudioDeviceError) {}
}

/// Why a sound device cannot be used.
public struct AudioDeviceError: Error, Sendable, CustomStringConvertible {
    /// What a program decides by: whether to ask again, and whom to tell.
    public enum Reason: String, Sendable {
        case absent
        case busy
        case notPermitted
        case unsupported
        case lost
    }

    /// Which of them it is.
    public var reason: Reason
    /// A sentence for an installer: what, where, and the cure.
    public var description: String

    public init(_ reason: Reason, _ description: String) {
        self.reason = reason
        self.description = description
    }
}
