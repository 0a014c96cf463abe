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

    private var headers: UnsafeMutablePointer<curl_slist>?
    private let errorText: UnsafeMutablePointer<CChar>
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

    /// What came of it.
    func outcome(_ result: CURLcode) -> Result<HTTPResponse, BackendError> {
        var response = HTTPResponse(status: 0)
        var status = 0
        if talkpost_curl_get_long(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK { response.status = status }
        guard wasSent, status >= 200, result != CURLE_UNSUPPORTED_PROTOCOL else { return .failure(failure(result)) }

        var type: UnsafePointer<CChar>?
        if talkpost_curl_get_text(easy, CURLINFO_CONTENT_TYPE, &type) == CURLE_OK, let type {
            response.contentType = String(cString: type)
        }
        var seconds: curl_off_t = 0
        if talkpost_curl_get_offset(easy, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK, seconds > 0 {
            response.retryAfter = ErrorEnvelope.duration(Double(seconds))
        }
        for name in ["x-request-id", "request-id"] where response.requestID == nil {
            var header: UnsafeMutablePointer<curl_header>?
            if curl_easy_header(easy, name, 0, UInt32(CURLH_HEADER), -1, &header) == CURLHE_OK, let header {
                response.requestID = ErrorEnvelope.readable(String(cString: header.pointee.value))
            }
        }
        response.body = body
        response.completeness = isOversized ? .oversized : result == CURLE_OK ? .whole : .truncated
        return .success(response)
    }

    /// Whether trying once more is right: it could not connect, so that nothing was sent.
    func mayRetry(_ result: CURLcode) -> Bool {
        guard !wasSent, !isRetry else { return false }
        switch kind(result) {
        case .dns, .unreachable: return true
        case .tls: return result == CURLE_SSL_CONNECT_ERROR
        case .invalidConfiguration, .credential, .timeout, .noAnswer, .refused, .invalidAnswer: return false
        }
    }

    /// The error for a request whose time is up.
    func timeoutError() -> BackendError {
        let place = BackendURL.withoutQuery(request.url)
        let seconds = request.timeout.inSeconds
        return wasSent
            ? BackendError(
                .timeout,
                """
                The backend at \(place) was asked but gave no whole answer within \(seconds) s: look into its log, or raise \
                timeout in [backend].
                """)
            : BackendError(
                .unreachable,
                "The backend at \(place) could not be reached within \(seconds) s: check the network and url in [backend]."
            )
    }

    private func failure(_ result: CURLcode) -> BackendError {
        let place = BackendURL.withoutQuery(request.url)
        let detail = ErrorEnvelope.readable(
            errorText.pointee != 0 ? String(cString: errorText) : String(cString: curl_easy_strerror(result)))
        let kind = kind(result)
        switch kind {
        case .dns:
            return BackendError(
                kind, "The backend's host in \(place) was not found (\(detail)): check the network's DNS.")
        case .tls:
            return BackendError(
                kind,
                """
                No trusted connection to the backend at \(place) could be made (\(detail)): check its certificate, this \
                machine's clock, and that no portal stands in between.
                """)
        case .invalidConfiguration:
            return BackendError(kind, "The address \(place) cannot be used (\(detail)): check url in [backend].")
        case .noAnswer:
            return BackendError(
                kind,
                """
                The backend at \(place) closed the connection without an answer (\(detail)); the request is not sent again, \
                since it may have been taken: look into the backend's log.
                """)
        case .invalidAnswer:
            return BackendError(
                kind, "What answers at \(place) does not speak HTTP (\(detail)): check url in [backend].")
        case .unreachable, .credential, .timeout, .refused:
            return BackendError(
                .unreachable,
                "The backend at \(place) could not be reached (\(detail)): check the network and url in [backend].")
        }
    }

    private func kind(_ result: CURLcode) -> BackendError.Kind {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dns
        case CURLE_URL_MALFORMAT: .invalidConfiguration
        case CURLE_UNSUPPORTED_PROTOCOL: wasSent ? .invalidAnswer : .invalidConfiguration  // HTTP/0.9 is refused thus
        case CURLE_WEIRD_SERVER_REPLY: .invalidAnswer
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            .tls
        default: wasSent ? .noAnswer : .unreachable
        }
    }

    private func configure() throws(BackendError) {
        for line in request.headers.reveal() {
            headers = curl_slist_append(headers, line)
        }
        let connectMilliseconds = Int(Self.connectTimeout.components.seconds) * 1000
        let context = Unmanaged.passUnretained(self).toOpaque()  // this object frees the handle, so it outlives it
        var steps: [(String, CURLcode)] = [
            ("url", talkpost_curl_set_text(easy, CURLOPT_URL, request.url)),
            ("protocols", talkpost_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")),
            ("path", talkpost_curl_set_long(easy, CURLOPT_PATH_AS_IS, 1)),
            // One request at a time gains nothing from HTTP/2, and 1.1 is what every gateway speaks.
            ("version", talkpost_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))),
            ("signals", talkpost_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)),
            ("redirects", talkpost_curl_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)),
            ("headers", talkpost_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headers)),
            ("connect timeout", talkpost_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, connectMilliseconds)),
            ("nodelay", talkpost_curl_set_long(easy, CURLOPT_TCP_NODELAY, 1)),
            // Probes keep a router's memory of an idle connection and find out when the far end is gone.
            ("keepalive", talkpost_curl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)),
            ("keepalive", talkpost_curl_set_long(easy, CURLOPT_TCP_KEEPIDLE, 25)),
            ("keepalive", talkpost_curl_set_long(easy, CURLOPT_TCP_KEEPINTVL, 5)),
            // A connection is used as long as it lives; the thread watches it.
            ("age", talkpost_curl_set_long(easy, CURLOPT_MAXAGE_CONN, 86_400)),
            // Nothing: an empty text keeps http_proxy and its like in the environment from being used.
            ("proxy", talkpost_curl_set_text(easy, CURLOPT_PROXY, "")),
            ("errors", talkpost_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)),
            ("write", talkpost_curl_set_pointer(easy, CURLOPT_WRITEDATA, context)),
            (
                "write",
                talkpost_curl_set_write(easy) { bytes, size, count, context in
                    guard let bytes, let context else { return 0 }
                    return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().take(bytes, size &* count)
                }
            ),
            ("request", talkpost_curl_set_pointer(easy, CURLOPT_PREREQDATA, context)),
            (
                "request",
                talkpost_curl_set_before_request(easy) { context, _, _, _, _ in
                    guard let context else { return CURL_PREREQFUNC_ABORT }
                    return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().beforeSending()
                }
            ),
        ]
        switch request.method {
        case .head:
            steps.append(("method", talkpost_curl_set_long(easy, CURLOPT_NOBODY, 1)))
        case .post(let body):
            steps.append(("body", body.withUnsafeBytes { talkpost_curl_set_body(easy, $0.baseAddress, $0.count) }))
        }
        if let (name, code) = steps.first(where: { $0.1 != CURLE_OK }) {
            let why = String(cString: curl_easy_strerror(code))
            throw BackendError(.invalidConfiguration, "libcurl refuses the setting \"\(name)\": \(why).")
        }
    }

    private func take(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        guard count <= HTTPResponse.bodyLimit - body.count else {
            isOversized = true
            return 0  // ends the transfer
        }
        body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    /// The connection is there and the request is about to be written; a second time only where libcurl retries by itself.
    private func beforeSending() -> Int32 {
        sendCount += 1
        switch request.method {
        case .head: return CURL_PREREQFUNC_OK
        case .post: return sendCount == 1 ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
    }
}
