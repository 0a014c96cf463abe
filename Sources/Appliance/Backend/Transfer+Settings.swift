internal import CCurl
import VoiceCore

/// What libcurl is told before a request goes out.
extension Transfer {
    /// Sets the handle up.
    /// - Throws: `invalidConfiguration` where libcurl refuses a setting, which names it.
    func configure() throws(BackendError) {
        let connectMilliseconds = Int(Self.connectTimeout.components.seconds) * 1000
        let context = Unmanaged.passUnretained(self).toOpaque()  // this object frees the handle, so it outlives it
        var steps: [(String, CURLcode)] = [
            ("url", talkpost_curl_set_text(easy, CURLOPT_URL, request.url)),
            ("protocols", talkpost_curl_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")),
            ("path", talkpost_curl_set_long(easy, CURLOPT_PATH_AS_IS, 1)),
            // One request at a time gains nothing from HTTP/2, and 1.1 is what every gateway speaks.
            ("version", talkpost_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))),
            ("signals", talkpost_curl_set_long(easy, CURLOPT_NOSIGNAL, 1)),
            // A lookup that a silent name server keeps for ten seconds is left to itself: to end the transfer would else wait for it, and
            // with it everything that this thread does.
            ("lookups", talkpost_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1)),
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
            // Empty texts keep http_proxy, no_proxy and their like in the environment from being used.
            ("proxy", talkpost_curl_set_text(easy, CURLOPT_PROXY, request.transport.proxy ?? "")),
            ("no proxy", talkpost_curl_set_text(easy, CURLOPT_NOPROXY, "")),
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
        case .get: break
        case .head: steps.append(("method", talkpost_curl_set_long(easy, CURLOPT_NOBODY, 1)))
        case .delete: steps.append(("method", talkpost_curl_set_text(easy, CURLOPT_CUSTOMREQUEST, "DELETE")))
        case .post(let body):
            steps.append(("body", body.withUnsafeBytes { talkpost_curl_set_body(easy, $0.baseAddress, $0.count) }))
        }
        if request.isAside {
            steps.append(("fresh", talkpost_curl_set_long(easy, CURLOPT_FRESH_CONNECT, 1)))
            steps.append(("once", talkpost_curl_set_long(easy, CURLOPT_FORBID_REUSE, 1)))
        }
        steps += transportSteps
        if let (name, code) = steps.first(where: { $0.1 != CURLE_OK }) {
            let why = String(cString: curl_easy_strerror(code))
            throw BackendError(.invalidConfiguration, "libcurl refuses the setting \"\(name)\": \(why).")
        }
    }

    /// What the config says of TLS and of a proxy.
    private var transportSteps: [(String, CURLcode)] {
        let transport = request.transport
        var steps: [(String, CURLcode)] = []
        func set(_ name: String, _ option: CURLoption, _ text: String?) {
            if let text { steps.append((name, talkpost_curl_set_text(easy, option, text))) }
        }
        set("ca_file", CURLOPT_CAINFO, transport.caFile)
        set("client_certificate_credential", CURLOPT_SSLCERT, transport.certificatePath)
        set("client_key_credential", CURLOPT_SSLKEY, transport.keyPath)
        set("pinned_key", CURLOPT_PINNEDPUBLICKEY, transport.pinnedKeys)
        guard transport.proxy != nil else { return steps }
        set("ca_file", CURLOPT_PROXY_CAINFO, transport.caFile)
        // The proxy's own headers are no part of the answer.
        steps.append(("proxy", talkpost_curl_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)))
        if let account = transport.proxyAccount?.reveal() {
            set("proxy_credential", CURLOPT_PROXYUSERNAME, account.user)
            set("proxy_credential", CURLOPT_PROXYPASSWORD, account.password)
        }
        return steps
    }
}
