import VoiceCore

/// The lines of the conversation as a screen on the box is told them, for people who do not hear well. Pure: what happened in, lines of
/// JSON out.
///
/// They mirror what the contract's chat has: `message` is a line of the conversation, with a status when it begins, goes on and ends;
/// `state.voice` is the voice's, when it is started and closed.
struct Captions: Sendable {
    /// The state line that whoever comes later is told first; nil: there was no voice yet.
    private(set) var state: JSONValue?
    /// The lines that have begun, by who says them.
    private var begun: [VoiceLine.Role: String] = [:]
    private var closeReason: CloseReason?

    mutating func take(_ happening: Happening) -> [JSONValue] {
        switch happening {
        case .voice:
            begun = [:]
            closeReason = nil
            return [keep(["status": .text("started"), "mine": .bool(true)])]
        case .closing(let reason):
            closeReason = reason
            return []
        case .closed(_, let seconds):
            let reason: JSONValue = closeReason.map { .text($0.rawValue) } ?? .null
            return [
                keep([
                    "status": .text("closed"), "mine": .bool(true), "seconds": seconds.map(JSONValue.number) ?? .null,
                    "closeReason": reason,
                ])
            ]
        case .line(let line): return take(line)
        case .ready, .button, .state, .led, .tone, .microphone, .speaker, .firstSound, .level, .error: return []
        }
    }

    private mutating func take(_ line: VoiceLine) -> [JSONValue] {
        var lines: [JSONValue] = []
        if begun[line.role] != line.id {
            begun[line.role] = line.id
            lines.append(Self.message(line, status: "begin", text: ""))
        }
        switch line.step {
        case .added(let text): lines.append(Self.message(line, status: "more", text: text))
        case .ended(let text):
            begun[line.role] = nil
            lines.append(Self.message(line, status: "end", text: text))
        }
        return lines
    }

    private mutating func keep(_ voice: [String: JSONValue]) -> JSONValue {
        let line = JSONValue.object(["state": .object(["voice": .object(voice)])])
        state = line
        return line
    }

    private static func message(_ line: VoiceLine, status: String, text: String) -> JSONValue {
        let voice = JSONValue.object(["role": .text(line.role.rawValue)])
        return .object([
            "message": .object([
                "kind": .text("voice"), "voice": voice, "id": .text(line.id), "status": .text(status),
                "text": .text(text),
            ])
        ])
    }
}
