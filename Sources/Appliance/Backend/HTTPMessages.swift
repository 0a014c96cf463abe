/// A request as it goes to the backend thread: nothing in it refers to libcurl.
struct HTTPRequest: Sendable {
    enum Method: Sendable {
        /// Sent at most once: it starts or ends something.
        case post(body: [UInt8])
        /// Asks for nothing; opens the connection.
        case head
    }

    var method: Method
    var url: String
    /// Whole header lines.
    var headers: Redacted<[String]>
    /// How long it may take in all.
    var timeout: Duration
    /// Called on the backend thread with an outcome that nobody waits for; returns what must be sent then.
    var afterAbandonment: (@Sendable (PendingResponse.Outcome) -> HTTPRequest?)?
}

/// An answer, as far as it came.
struct HTTPResponse: Sendable {
    enum Completeness: Sendable {
        case whole
        /// The connection ended before the body did.
        case truncated
        /// The body is longer than `bodyLimit`; the rest was not taken.
        case oversized
    }

    /// An answer holds one SDP: a few KiB. This much is taken from a backend at most.
    static let bodyLimit = 1 << 20

    var status: Int
    var contentType: String?
    var requestID: String?
    var retryAfter: Duration?
    var body: [UInt8] = []
    var completeness = Completeness.whole

    var isSuccess: Bool { (200..<300).contains(status) }

    /// The media type in lower case without its parameters: "application/json".
    var mediaType: String? {
        guard let contentType else { return nil }
        let type = contentType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
        return type.isEmpty ? nil : type
    }

    /// RFC 8259 11, RFC 6839 3.1.
    var isJSON: Bool { mediaType == "application/json" || mediaType?.hasSuffix("+json") == true }
}
