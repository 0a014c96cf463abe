import Synchronization

/// One conversation with the platform's voice provider: the microphone goes there, its voice comes back, over WebRTC.
///
/// Made by `connect`, used on the main actor, ended by `close` or by being let go of. The threads that carry it never hold it.
@MainActor
public final class PBVoice {
    /// The device that voices use; set once by the host before the first `connect`.
    public static var audioDevice: (any AudioDevice)?
    /// What the host chooses about its voices; set before the first `connect` or `prepare`. Servers and proxy count at each `connect`.
    public static var configuration = VoiceConfiguration()
    /// What the host's operator should know; called on any thread.
    public static var onDiagnostic: (@Sendable (VoiceDiagnostic) -> Void)?

    /// What the provider tells in its voices beside their sound, where it tells anything; errors come to `onError`. Set once.
    public static var onEvent: (@MainActor (_ voice: PBVoice, _ event: VoiceEvent) -> Void)?

    /// The voice the backend started: what it reads, tells and closes it by.
    public let id: String
    /// The connection's state.
    public private(set) var state: PBVoiceState = .new
    /// Whether the provider does not hear the microphone.
    public var muted: Bool { runtime.isMuted.load(ordering: .relaxed) }

    private let runtime: VoiceRuntime
    private let onError: @MainActor (PBVoiceError) -> Void
    private let onState: @MainActor (PBVoiceState) -> Void

    init(
        id: String, runtime: VoiceRuntime, onError: @escaping @MainActor (PBVoiceError) -> Void,
        onState: @escaping @MainActor (PBVoiceState) -> Void
    ) {
        self.id = id
        self.runtime = runtime
        self.onError = onError
        self.onState = onState
        enter(.connecting)
        let events = runtime.events
        Task { [weak self] in
            for await _ in events.wakes {
                for event in events.drain() { self?.deliver(event) }
            }
        }
    }

    deinit {
        runtime.close()
    }

    /// Stops the provider hearing the microphone, or lets it hear again. While muted it hears silence, not nothing.
    public func mute(_ muted: Bool) {
        runtime.mute(muted)
    }

    /// Tells the provider to stop talking, where its events say that it does. What still comes is the host's to silence.
    public func interrupt() {
        runtime.mailbox.post(.interrupt)
    }

    /// Sends a text to the provider on the event channel; where there is none, nobody hears it.
    public func send(text: String) {
        runtime.mailbox.post(.text(Array(text.utf8)))
    }

    /// Ends it here: the connection, the microphone, and the audio session it set up. Returns at once; any number of times.
    public func close() {
        runtime.close()
        enter(.closed)
    }

    private func deliver(_ event: RuntimeEvent) {
        switch event {
        case .error(let error): onError(error)
        case .state(let state): enter(state)
        case .event(let event): Self.onEvent?(self, event)
        case .channelOpened, .channelClosed, .message, .messageRefused: break
        }
    }

    /// A closed voice stays closed, a failed one can only be closed.
    private func enter(_ new: PBVoiceState) {
        guard state != new, state != .closed, state != .failed || new == .closed else { return }
        state = new
        if new == .failed || new == .closed { runtime.close() }
        onState(new)
    }
}
