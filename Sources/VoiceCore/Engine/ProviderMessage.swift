/// A message of the provider on the event channel, read. Pure; any bytes can be read.
///
/// The words are those of the realtime API that most providers speak, its earlier form, and Pipecat's RTVI. What is not known is
/// `unknown`, never a mistake: a filter on the way may leave any event out, and providers invent new ones.
enum ProviderMessage: Equatable {
    case event(VoiceEvent)
    /// Something went wrong; the voice goes on.
    case error(ProviderError)
    /// The session is over, whatever the connection still does.
    case sessionEnded(isExpiry: Bool)
    /// No JSON object with a type: for the statistics alone.
    case unreadable

    /// Longer messages are whole configurations, which say nothing to this client.
    static let byteLimit = 262_144

    /// - Parameter bytes: one message, text in UTF-8.
    init(reading bytes: [UInt8]) {
        guard bytes.count <= Self.byteLimit, let message = JSONValue(reading: bytes), let type = message["type"]?.text
        else {
            self = .unreadable
            return
        }
        self = Self.known(type, message) ?? .event(.unknown(type: String(type.prefix(64))))
    }

    private static func known(_ type: String, _ message: JSONValue) -> ProviderMessage? {
        switch type {
        case "error": failure(message)
        case "session.created", "session.updated", "session.started":
            .event(.session(expiresAt: message["session"]?["expires_at"]?.number))
        case "session.closed": .sessionEnded(isExpiry: false)
        case "input_audio_buffer.speech_started", "user-started-speaking": .event(.visitorSpeaks(true))
        case "input_audio_buffer.speech_stopped", "user-stopped-speaking": .event(.visitorSpeaks(false))
        case "response.created": .event(.response(isRunning: true))
        case "response.done": .event(.response(isRunning: false))
        case "output_audio_buffer.started", "bot-started-speaking": .event(.providerSpeaks(true))
        case "output_audio_buffer.stopped", "bot-stopped-speaking": .event(.providerSpeaks(false))
        case "output_audio_buffer.cleared": .event(.outputCleared)
        default: line(type, message).map { .event(.line($0)) }
        }
    }

    private static func line(_ type: String, _ message: JSONValue) -> VoiceLine? {
        let id = message["item_id"]?.text ?? ""
        switch type {
        case "response.output_audio_transcript.delta", "response.audio_transcript.delta":
            return message["delta"]?.text.map { VoiceLine(role: .assistant, id: id, step: .added($0)) }
        case "response.output_audio_transcript.done", "response.audio_transcript.done":
            return message["transcript"]?.text.map { VoiceLine(role: .assistant, id: id, step: .ended($0)) }
        case "conversation.item.input_audio_transcription.delta":
            return message["delta"]?.text.map { VoiceLine(role: .user, id: id, step: .added($0)) }
        case "conversation.item.input_audio_transcription.completed":
            return message["transcript"]?.text.map { VoiceLine(role: .user, id: id, step: .ended($0)) }
        case "bot-transcription":
            return message["data"]?["text"]?.text.map { VoiceLine(role: .assistant, id: id, step: .ended($0)) }
        case "user-transcription":
            // What is not final yet is said again with more words.
            guard message["data"]?["final"] == .bool(true) else { return nil }
            return message["data"]?["text"]?.text.map { VoiceLine(role: .user, id: id, step: .ended($0)) }
        default: return nil
        }
    }

    /// An error in an object of its own, as it comes, or flat, as some documents print it.
    private static func failure(_ message: JSONValue) -> ProviderMessage {
        let inner = message["error"] ?? message["data"] ?? message
        let code = inner["code"]?.text ?? (message["error"] == nil ? nil : inner["type"]?.text)
        let error = ProviderError(
            code: String((code ?? "unknown_error").prefix(64)),
            message: inner["message"]?.text ?? inner["error"]?.text ?? "It said no more than that.")
        return error.code == "session_expired" ? .sessionEnded(isExpiry: true) : .error(error)
    }
}

/// What the provider said went wrong.
struct ProviderError: Equatable, Sendable {
    /// The provider's own, as in "rate_limit_exceeded"; "unknown_error" where there is none.
    var code: String
    /// The provider's own words, of any length.
    var message: String
}
