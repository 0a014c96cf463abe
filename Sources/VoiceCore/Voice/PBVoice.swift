/// One conversation with the platform's voice provider: the microphone goes there, its voice comes back, over WebRTC.
@MainActor
public final class PBVoice {
    /// The device that voices use; set once by the host before the first `connect`.
    public static var audioDevice: (any AudioDevice)?
    /// What the host chooses about its voices; set once before the first `connect`.
    public static var configuration = VoiceConfiguration()
    /// What the host's operator should know, from any thread.
    public static var onDiagnostic: (@Sendable (VoiceDiagnostic) -> Void)?

    /// The voice the backend started: what it reads, tells and closes it by.
    public let id: String
    /// The connection's state.
    public private(set) var state: PBVoiceState = .new
    /// Whether the provider does not hear the microphone.
    public private(set) var muted = false

    private init(id: String) {
        self.id = id
    }

    /// Makes ready what the next `connect` needs: sockets, candidates, a key and certificate. Optional; returns at once.
    public static func prepare() {}

    /// Asks for the microphone, sets the session up, offers, and returns once the provider's answer is set.
    public static func connect(
        start: @escaping @MainActor (_ sdp: String) async throws -> PBStartedVoice,
        audioSession: PBAudioSession = .managed,
        iceTimeout: Duration = .seconds(10),
        onError: @escaping @MainActor (PBVoiceError) -> Void = { _ in },
        onState: @escaping @MainActor (PBVoiceState) -> Void = { _ in }
    ) async throws(PBVoiceError) -> PBVoice {
        throw PBVoiceError(.invalidConfiguration, "Not built yet.")
    }

    /// Stops the provider hearing the microphone, or lets it hear again.
    public func mute(_ muted: Bool) {
        self.muted = muted
    }

    /// Ends it here: the connection, the microphone, and the audio session it set up.
    public func close() {}
}
