/// A request as it goes to the backend thread: nothing in it refers to libcurl.
struct HTTPRequest: Sendable {
    enum Method: Sendable {
        /// Sent at most once: it starts or ends something.
        case post(body: [UInt8])
        /// Sent at most once.
        case delete
        case get
        /// Asks for nothing; opens the connection.
        case head
    }

    var method: Method
    var url: String
    /// Whole header lines.
    var headers: Redacted<[String]>
    /// How long it may take in all.
    var timeout: Duration
    var transport = Transport()
    /// Whether it has a connection to itself, and tells nothing of how the backend is: it goes elsewhere.
    var isAside = false
    /// Called on the backend thread with an outcome that nobody waits for.
    var afterAbandonment: (@Sendable (PendingResponse.Outcome) -> Void)?
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
    /// The headers Location, ETag and WWW-Authenticate, as they came.
    var location: String?
    var entityTag: String?
    var challenge: String?
    /// Each Link header, as it came.
    var links: [String] = []
    /// The far end's clock: seconds since 1970, from the header Date.
    var date: Int64?
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

    /// Whether the body is a web page, whatever its type says: by its first bytes, or by the type where nothing else speaks.
    var isHTML: Bool {
        let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]  // and the bytes of a byte order mark
        let start = String(decoding: body.drop { blanks.contains($0) }.prefix(14), as: UTF8.self).lowercased()
        if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") || start.hasPrefix("<head") { return true }
        return mediaType == "text/html" || mediaType == "application/xhtml+xml"
    }
}
