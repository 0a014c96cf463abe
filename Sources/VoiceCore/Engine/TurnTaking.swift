/// Who speaks when, told to the provider. Pure; part of the engine.
///
/// Usually the provider finds out by itself when the visitor speaks, and all it is told is that the visitor wants it to stop, where its
/// events say that it speaks. By the button, its own detection is off, and the gate's opening and shutting begin and end the
/// visitor's turn.
///
/// Sound and messages go different ways with no order between them. So a turn is committed only once sound from after its end has been
/// sent, and a moment later still; where the channel opens later than that, then. A turn's beginning clears what the provider has kept of the
/// silence before it.
struct TurnTaking {
    private enum Gate: Equatable {
        case shut
        /// Since when there has been sound of this turn on its way.
        case speaking(since: Instant)
        /// Shut then, and what was said before is still on its way.
        case ending(since: Instant, shutAt: Instant)
        /// All was sent by then: the turn is to be committed.
        case ended(since: Instant, commitAt: Instant)
    }

    private let isByButton: Bool
    private var gate = Gate.shut
    private var isChannelThere = false
    private var isResponding = false
    private var isSpeaking = false

    /// Longer than a packet is ever overtaken by another on a path that can be talked over.
    static let margin: Duration = .milliseconds(150)
    /// A shorter turn holds nothing that a provider could take for speech, and committing it is an error there.
    static let shortest: Duration = .milliseconds(100)

    init(isByButton: Bool) {
        self.isByButton = isByButton
    }

    /// When `handleTimeout` is wanted.
    var deadline: Instant? {
        switch gate {
        case .ended(_, let commitAt): isChannelThere ? commitAt : nil
        case .shut, .speaking, .ending: nil
        }
    }

    // MARK: In; each returns the messages to send, in order.

    /// The event channel can be used from now on.
    mutating func channelOpened() -> [JSONValue] {
        isChannelThere = true
        guard isByButton else { return [] }
        let off = JSONValue.object(["input": .object(["turn_detection": .null])])
        return [Self.message("session.update", ["session": .object(["type": .text("realtime"), "audio": off])])]
    }

    /// The gate opened or shut.
    mutating func gate(isOpen: Bool, at now: Instant) -> [JSONValue] {
        guard isByButton else { return [] }
        switch gate {
        case .shut where isOpen:
            gate = .speaking(since: now)
            let stop = interrupt()
            return isChannelThere ? stop + [Self.message("input_audio_buffer.clear")] : stop
        // The same turn goes on.
        case .ending(let since, _) where isOpen, .ended(let since, _) where isOpen: gate = .speaking(since: since)
        case .speaking(let since) where !isOpen: gate = .ending(since: since, shutAt: now)
        case .shut, .speaking, .ending, .ended: break
        }
        return []
    }

    /// The visitor wants the provider to stop.
    mutating func interrupt() -> [JSONValue] {
        guard isChannelThere else { return [] }
        var messages: [JSONValue] = []
        if isResponding { messages.append(Self.message("response.cancel")) }
        if isSpeaking { messages.append(Self.message("output_audio_buffer.clear")) }
        isResponding = false
        isSpeaking = false
        return messages
    }

    /// A packet of the microphone's sound was sent.
    /// - Parameter capturedAt: when it was in front of the microphone; nil: long before.
    mutating func sent(capturedAt: Instant?, at now: Instant) {
        guard case .ending(let since, let shutAt) = gate, let capturedAt, capturedAt >= shutAt else { return }
        gate = .ended(since: since, commitAt: now + Self.margin)
    }

    mutating func see(_ event: VoiceEvent) {
        switch event {
        case .response(let isRunning): isResponding = isRunning
        case .providerSpeaks(let speaks): isSpeaking = speaks
        case .outputCleared: isSpeaking = false
        case .session, .sessionOver, .visitorSpeaks, .line, .unknown: break
        }
    }

    mutating func handleTimeout(at now: Instant) -> [JSONValue] {
        guard case .ended(let since, let commitAt) = gate, isChannelThere, commitAt <= now else { return [] }
        gate = .shut
        guard commitAt - since >= Self.shortest + Self.margin else { return [] }
        isResponding = true
        return [Self.message("input_audio_buffer.commit"), Self.message("response.create")]
    }

    private static func message(_ type: String, _ fields: [String: JSONValue] = [:]) -> JSONValue {
        .object(fields.merging(["type": .text(type)]) { _, new in new })
    }
}
