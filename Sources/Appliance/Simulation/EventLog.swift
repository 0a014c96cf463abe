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
        guard let line = Self.line(happening, at: instant) else { return }
        let lineWithEnd = line + [UInt8(ascii: "\n")]
        // One write a line, so that whoever reads along never sees half of one. A full disk loses lines, not the call.
        lineWithEnd.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
    }

    /// The line without its end: when it happened, in seconds of CLOCK_MONOTONIC, and what; nil: what was said is not told.
    nonisolated static func line(_ happening: Happening, at instant: Instant) -> [UInt8]? {
        guard var fields = fields(happening) else { return nil }
        fields["at"] = .number(Double(instant.nanoseconds) / 1e9)
        return JSONValue.object(fields).encoded
    }

    nonisolated private static func fields(_ happening: Happening) -> [String: JSONValue]? {
        switch happening {
        case .ready: ["event": .text("ready")]
        case .button(let isPressed):
            ["event": .text("button"), "change": .text(isPressed ? "pressed" : "released")]
        case .state(let state): ["event": .text("state"), "state": .text(state.rawValue)]
        case .voice(let id): ["event": .text("voice"), "id": .text(id)]
        case .led(let pattern):
            [
                "event": .text("led"), "pattern": .text(pattern.word), "heard": .bool(pattern.isHeard),
                "fault": pattern.fault.map { .text($0.rawValue) } ?? .null,
            ]
        case .tone(let earcon): ["event": .text("tone"), "name": .text(earcon.name)]
        case .microphone(let works): ["event": .text("microphone"), "works": .bool(works)]
        case .speaker(let works): ["event": .text("speaker"), "works": .bool(works)]
        case .line: nil
        case .closing(let reason): ["event": .text("closing"), "reason": .text(reason.rawValue)]
        case .firstSound: ["event": .text("first_sound")]
        case .level(let reading):
            [
                "event": .text("level"), "microphone_dbfs": tenths(reading.microphoneDBFS),
                "speaker_dbfs": tenths(reading.speakerDBFS),
            ]
        case .error(let code, let message):
            ["event": .text("error"), "code": .text(code), "message": .text(message)]
        case .closed(let id, let seconds):
            ["event": .text("closed"), "id": .text(id), "seconds": seconds.map(JSONValue.number) ?? .null]
        }
    }

    nonisolated private static func tenths(_ value: Double) -> JSONValue {
        .number((value * 10).rounded() / 10)
    }
}
