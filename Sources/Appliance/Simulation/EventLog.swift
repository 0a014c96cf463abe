import Glibc
import VoiceCore

/// Writes each happening as a line of JSON, for programs that drive or measure the appliance (`--events`). Lives on the main actor.
@MainActor
final class EventLog: HappeningWatcher {
    private let descriptor: Int32

    /// - Parameter path: a file to write anew, or "-" for standard output.
    /// - Returns: nil where the file cannot be made, with the reason in `errno`.
    init?(path: String) {
        descriptor = path == "-" ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return nil }
    }

    deinit {
        close(descriptor)
    }

    func saw(_ happening: Happening, at instant: Instant) {
        var line = Self.line(happening, at: instant) + "\n"
        // One write a line, so that whoever reads along never sees half of one. A full disk loses lines, not the call.
        line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }

    /// The line without its end.
    nonisolated static func line(_ happening: Happening, at instant: Instant) -> String {
        let fields: [(name: String, value: String)] =
            switch happening {
            case .ready: [("event", text("ready"))]
            case .button(let isPressed):
                [("event", text("button")), ("change", text(isPressed ? "pressed" : "released"))]
            case .state(let state): [("event", text("state")), ("state", text(state.rawValue))]
            case .voice(let id): [("event", text("voice")), ("id", text(id))]
            case .led(let pattern): [("event", text("led")), ("pattern", text(pattern.rawValue))]
            case .firstSound: [("event", text("first_sound"))]
            case .level(let reading):
                [
                    ("event", text("level")), ("microphone_dbfs", tenths(reading.microphoneDBFS)),
                    ("speaker_dbfs", tenths(reading.speakerDBFS)),
                ]
            case .error(let code, let message):
                [("event", text("error")), ("code", text(code)), ("message", text(message))]
            case .closed(let id, let seconds):
                [("event", text("closed")), ("id", text(id))] + (seconds.map { [("seconds", number($0))] } ?? [])
            }
        let all = [(name: "at", value: number(instant.nanoseconds))] + fields
        return "{" + all.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
    }

    /// Seconds with all nine digits.
    nonisolated private static func number(_ nanoseconds: Int64) -> String {
        let fraction = String(nanoseconds.magnitude % 1_000_000_000)
        let zeros = String(repeating: "0", count: 9 - fraction.count)
        return "\(nanoseconds < 0 ? "-" : "")\(nanoseconds.magnitude / 1_000_000_000).\(zeros)\(fraction)"
    }

    nonisolated private static func number(_ value: Double) -> String {
        value.isFinite ? "\(value)" : "null"
    }

    nonisolated private static func tenths(_ value: Double) -> String {
        number((value * 10).rounded() / 10)
    }

    /// A JSON string (RFC 8259 7).
    nonisolated private static func text(_ value: String) -> String {
        let hex = Array("0123456789abcdef")
        var quoted = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                quoted += "\\"
                quoted.unicodeScalars.append(scalar)
            case "\n": quoted += "\\n"
            case "\u{00}"..."\u{1F}":
                quoted += "\\u00\(hex[Int(scalar.value >> 4)])\(hex[Int(scalar.value & 15)])"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
