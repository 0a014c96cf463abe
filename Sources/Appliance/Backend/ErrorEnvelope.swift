import FoundationEssentials
import VoiceCore

/// What a backend, or a gateway in front of it, says about an error: every field may be missing or of another type.
///
/// Reading never fails, because an unreadable body must not hide the HTTP status.
struct ErrorEnvelope: Equatable {
    var code: String?
    var message: String?
    var requestID: String?
    var retryAfter: Duration?

    init() {}

    /// Reads the canonical form {error, error_description, status, request_id, data}, {error, message}, {message}, and
    /// {error: {code, type, message}}.
    init(reading body: [UInt8]) {
        // No JSON: nothing is known.
        guard JSONStrings.canBeDecoded(body), let wire = try? JSONDecoder().decode(Wire.self, from: Data(body)) else {
            return
        }
        let text = wire.text.merging(wire.error) { outer, _ in outer }
        code = [wire.text["error"], wire.error["code"], wire.error["type"], wire.text["code"]]
            .compactMap { $0 }.first { Self.isCode($0) }
        message =
            ["error_description", "message", "detail"].compactMap { text[$0] }.map(Self.readable).first { !$0.isEmpty }
            ?? wire.text["error"].flatMap { Self.isCode($0) ? nil : Self.readable($0) }
        requestID = text["request_id"].map(Self.readable).flatMap { $0.isEmpty ? nil : $0 }
        retryAfter = (wire.number["retry_after"] ?? wire.data["retryAfter"] ?? wire.data["retry_after"])
            .flatMap(Self.duration)
    }

    /// A stranger's text as it may stand in a log line: one line of at most 300 characters without control characters.
    static func readable(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars.prefix(300) {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            let isOverride = (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            if isControl || isOverride {
                if result.last != " " { result += " " }
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        while result.last == " " { result.removeLast() }
        return result
    }

    /// A day at most: a longer wait is a mistake of the backend's.
    static func duration(_ seconds: Double) -> Duration? {
        guard seconds.isFinite, seconds >= 0 else { return nil }
        return .milliseconds(Int64(min(seconds, 86_400) * 1000))
    }

    private static func isCode(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

/// The fields of interest by their type; all others are skipped.
private struct Wire: Decodable {
    var text: [String: String] = [:]
    var number: [String: Double] = [:]
    var error: [String: String] = [:]
    var data: [String: Double] = [:]

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: Key.self)
        for name in ["error", "error_description", "message", "detail", "code", "request_id"] {
            text[name] = Self.text(fields, name)
        }
        number["retry_after"] = Self.number(fields, "retry_after")
        if let inner = try? fields.nestedContainer(keyedBy: Key.self, forKey: Key("error")) {
            for name in ["code", "type", "message", "request_id"] { error[name] = Self.text(inner, name) }
        }
        if let inner = try? fields.nestedContainer(keyedBy: Key.self, forKey: Key("data")) {
            for name in ["retryAfter", "retry_after"] { data[name] = Self.number(inner, name) }
        }
    }

    private static func text(_ fields: KeyedDecodingContainer<Key>, _ name: String) -> String? {
        (try? fields.decode(String.self, forKey: Key(name))) ?? nil
    }

    private static func number(_ fields: KeyedDecodingContainer<Key>, _ name: String) -> Double? {
        if let value = try? fields.decode(Double.self, forKey: Key(name)) { return value }
        return text(fields, name).flatMap(Double.init)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ name: String) { stringValue = name }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
