internal import CCurl
import Glibc
import VoiceCore

/// One request under way: the owner of a libcurl easy handle and of all that libcurl writes to.
///
/// Lives on the backend thread alone. It never sends a POST twice: libcurl would by itself, on a connection that died while
/// being used again, and is stopped before the second sending.
final class Transfer {
    /// How long name, connection and TLS may take together.
    static let connectTimeout = Duration.seconds(3)

    let request: HTTPRequest
    /// Who waits for it.
    let pending: PendingResponse?
    /// Whether this is the second attempt, after a first that could not connect.
    let isRetry: Bool
    /// When it is given up.
    var deadline: Instant
    let easy: UnsafeMutableRawPointer

    private(set) var headers: UnsafeMutablePointer<curl_slist>?
    let errorText: UnsafeMutablePointer<CChar>
    private var body: [UInt8] = []
    private var isOversized = false
    private var sendCount = 0

    /// - Throws: `invalidConfiguration` where libcurl refuses a setting, which names it.
    init(
        _ request: HTTPRequest, pending: PendingResponse?, isRetry: Bool, deadline: Instant
    ) throws(BackendError) {
        guard let easy = curl_easy_init() else {
            throw BackendError(.invalidConfiguration, "libcurl could not make a request: the memory is used up.")
        }
        self.request = request
        self.pending = pending
        self.isRetry = isRetry
        self.deadline = deadline
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        for line in request.headers.reveal() { headers = curl_slist_append(headers, line) }
        try configure()
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
        errorText.deallocate()
    }

    /// Whether its request may have reached the server.
    var wasSent: Bool { sendCount > 0 }

    /// Whether its connection was there before it.
    var usedOpenConnection: Bool {
        var count = 0
        return talkpost_curl_get_long(easy, CURLINFO_NUM_CONNECTS, &count) == CURLE_OK && count == 0
    }

    /// The connection it leaves open behind it; asked before the handle leaves the multi handle.
    var openSocket: Int32? {
        var socket: curl_socket_t = -1
        guard talkpost_curl_get_socket(easy, &socket) == CURLE_OK, socket >= 0 else { return nil }
        return socket
    }

    /// From where its connection went.
    var localAddress: String? {
        var text: UnsafePointer<CChar>?
        guard talkpost_curl_get_text(easy, CURLINFO_LOCAL_IP, &text) == CURLE_OK, let text else { return nil }
        return text.pointee == 0 ? nil : String(cString: text)
    }

    /// Before it goes out: it opens a connection of its own, and those at rest are closed.
    func leaveOldConnections() {
        talkpost_curl_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
        talkpost_curl_set_long(easy, CURLOPT_MAXAGE_CONN, 1)
    }

    /// What came of it.
    func outcome(_ result: CURLcode) -> Result<HTTPResponse, BackendError> {
        var response = HTTPResponse(status: 0)
        var status = 0
        if talkpost_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK { response.status = status }
        guard wasSent, status >= 200, result != CURLE_UNSUPPORTED_PROTOCOL else { return .failure(failure(result)) }

        response.location = header("location")
        response.entityTag = header("etag")
        response.challenge = header("www-authenticate")
        response.date = header("date").flatMap(WallClock.date)
        // As many as anybody has ICE servers, and then some.
        for index in 0..<16 {
            guard let link = header("link", at: index) else { break }
            response.links.append(link)
        }
        var type: UnsafePointer<CChar>?
        if talkpost_curl_get_text(easy, CURLINFO_CONTENT_TYPE, &type) == CURLE_OK, let type {
            response.contentType = String(cString: type)
        }
        var seconds: curl_off_t = 0
        if talkpost_curl_get_offset(easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK, seconds > 0 {
            response.retryAfter = ErrorEnvelope.duration(Double(seconds))
        }
        for name in ["x-request-id", "request-id"] where response.requestID == nil {
            response.requestID = header(name).map(ErrorEnvelope.readable)
        }
        response.body = body
        response.completeness = isOversized ? .oversized : result == CURLE_OK ? .whole : .truncated
        return .success(response)
    }

    /// The value of one of the answer's headers of a name; at most 4 KiB of it.
    private func header(_ name: String, at index: Int = 0) -> String? {
        var header: UnsafeMutablePointer<curl_header>?
        guard curl_easy_header(easy, name, index, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK, let header else {
            return nil
        }
        return String(String(cString: header.pointee.value).prefix(4096))
    }

    /// Whether trying once more is right: it could not connect, so that nothing was sent, and has not taken all its time for it.
    func mayRetry(_ result: CURLcode) -> Bool {
        guard !wasSent, !isRetry, result != CURLE_OPERATION_TIMEDOUT else { return false }
        switch kind(result) {
        case .dns, .unreachable: return true
        case .tls: return result == CURLE_SSL_CONNECT_ERROR
        case .invalidConfiguration, .credential, .timeout, .noAnswer, .refused, .invalidAnswer, .clock, .captivePortal,
            .unauthorized, .busy:
            return false
        }
    }

    /// More of the answer's body; 0 ends the transfer.
    func take(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        guard count <= HTTPResponse.bodyLimit - body.count else {
            isOversized = true
            return 0  // ends the transfer
        }
        body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    /// The connection is there and the request is about to be written; a second time only where libcurl retries by itself.
    func beforeSending() -> Int32 {
        sendCount += 1
        switch request.method {
        case .head, .get: return CURL_PREREQFUNC_OK
        case .post, .delete: return sendCount == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }
}
