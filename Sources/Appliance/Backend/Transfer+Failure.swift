internal import CCurl
import VoiceCore

/// What kept a request from being answered, in a sentence: what, where, and the cure.
extension Transfer {
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

    /// The error for a request that libcurl ended without an answer.
    func failure(_ result: CURLcode) -> BackendError {
        let place = BackendURL.withoutQuery(request.url)
        let detail = ErrorEnvelope.readable(
            errorText.pointee != 0 ? String(cString: errorText) : String(cString: curl_easy_strerror(result)))
        if let refusal = proxyRefusal { return refusal }
        let kind = kind(result)
        switch kind {
        case .dns where result == CURLE_COULDNT_RESOLVE_PROXY:
            return BackendError(
                kind, "The host of proxy in [backend] was not found (\(detail)): check it, and the network's DNS.")
        case .dns:
            return BackendError(
                kind, "The backend's host in \(place) was not found (\(detail)): check the network's DNS.")
        case .tls:
            let doubt = doubt(result, detail)
            var error = BackendError(
                kind, "No trusted connection to the backend at \(place) could be made (\(detail)): \(doubt.cure).")
            error.doubt = doubt
            return error
        case .invalidConfiguration:
            return BackendError(kind, "The address \(place) cannot be used (\(detail)): check url in [backend].")
        case .noAnswer:
            // Ended by us, where libcurl would have sent it once more: its own words say nothing then.
            let reason = result == CURLE_ABORTED_BY_CALLBACK ? "" : " (\(detail))"
            return BackendError(
                kind,
                """
                The backend at \(place) closed the connection without an answer\(reason); the request is not sent again, \
                since it may have been taken: look into the backend's log.
                """)
        case .invalidAnswer:
            return BackendError(
                kind, "What answers at \(place) does not speak HTTP (\(detail)): check url in [backend].")
        case .unreachable, .credential, .timeout, .refused, .clock, .captivePortal, .unauthorized, .busy:
            let isProxy = request.transport.proxy != nil
            return BackendError(
                .unreachable,
                """
                The backend at \(place) could not be reached (\(detail)): check the network and \
                \(isProxy ? "url and proxy" : "url") in [backend].
                """)
        }
    }

    func kind(_ result: CURLcode) -> BackendError.Kind {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dns
        case CURLE_OPERATION_TIMEDOUT where isResolving: .dns
        case CURLE_URL_MALFORMAT: .invalidConfiguration
        case CURLE_UNSUPPORTED_PROTOCOL: wasSent ? .invalidAnswer : .invalidConfiguration  // HTTP/0.9 is refused thus
        case CURLE_WEIRD_SERVER_REPLY: .invalidAnswer
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT:
            .tls
        case _ where wantsClientCertificate: .tls
        default: wasSent ? .noAnswer : .unreachable
        }
    }

    /// Whether no name server has answered yet; with an address in the URL there is none to ask, and the time is not zero.
    private var isResolving: Bool {
        var microseconds: curl_off_t = 0
        let known = talkpost_curl_get_offset(easy, CURLINFO_NAMELOOKUP_TIME_T, &microseconds) == CURLE_OK
        return known && microseconds == 0 && !wasSent
    }

    private func doubt(_ result: CURLcode, _ detail: String) -> TLSDoubt {
        if wantsClientCertificate { return .clientCertificate }
        switch result {
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return .otherKey
        case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT: return .clientCertificate
        case CURLE_PEER_FAILED_VERIFICATION:
            var verdict = 0
            guard talkpost_curl_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &verdict) == CURLE_OK else { return .other }
            return TLSDoubt(verdict: verdict)
        default: return .other
        }
    }

    /// In TLS 1.3 a server refuses our certificate only after the handshake (RFC 8446 4.4.2.4), before it reads a request: by an
    /// alert, whose name OpenSSL puts into the error's text.
    private var wantsClientCertificate: Bool {
        let text = String(cString: errorText)
        guard text.firstPlace(of: "alert ") != nil else { return false }
        return ["certificate required", "bad certificate", "unknown ca", "certificate expired", "certificate unknown"]
            .contains { text.firstPlace(of: "alert \($0)") != nil }
    }

    /// What the proxy said to being asked for a tunnel, where it was no yes.
    private var proxyRefusal: BackendError? {
        var status = 0
        guard talkpost_curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &status) == CURLE_OK, status >= 300 else {
            return nil
        }
        return BackendReply.refusalOfProxy(status)
    }
}
