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
    /// {error: {code, type, message}}, and RFC 9457's {title, detail}.
    init(reading body: [UInt8]) {
        // No JSON: nothing is known.
        guard let body = JSONValue(reading: body) else { return }
        let error = body["error"]
        // What stands outside comes before what stands within "error".
        let text = { (name: String) in body[name]?.text ?? error?[name]?.text }
        code = [error?.text, error?["code"]?.text, error?["type"]?.text, body["code"]?.text]
            .compactMap { $0 }.first { Self.isCode($0) }
        message =
            ["error_description", "message", "detail", "title"].compactMap(text).map(Self.readable).first {
                !$0.isEmpty
            }
            ?? error?.text.flatMap { Self.isCode($0) ? nil : Self.readable($0) }
        requestID = text("request_id").map(Self.readable).flatMap { $0.isEmpty ? nil : $0 }
        retryAfter = [body["retry_after"], body["data"]?["retryAfter"], body["data"]?["retry_after"]]
            .compactMap { $0.flatMap(Self.seconds) }.first.flatMap(Self.duration)
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

    /// A number, or a text that is one.
    private static func seconds(_ value: JSONValue) -> Double? {
        value.number ?? value.text.flatMap(Double.init)
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
