internal import COpenSSL

/// OpenSSL's settings for every association of the process: DTLS 1.2, which suites, curves and SRTP profiles.
///
/// Made at the first use (some milliseconds, OpenSSL's own start among them) and never freed; the certificate is each association's
/// own. It holds no session, ticket or other state that one voice could leave to the next.
enum DTLSContext {
    /// A new SSL with these settings, for its caller to free.
    static func makeSSL() throws(DTLSError) -> OpaquePointer {
        let context = try shared.get()
        ERR_clear_error()
        guard let ssl = SSL_new(context) else { throw .library("SSL_new") }
        return ssl
    }

    // Set up once and only read afterwards; SSL_new counts its references atomically.
    nonisolated(unsafe) private static let shared = Result { () throws(DTLSError) in try make() }

    /// Starts OpenSSL, where nobody in the process has yet, without its clean-up at exit: that would take it apart under a
    /// thread that still makes a key, and end a program that ends with `exit` by a crash.
    static func startLibrary() {
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }

    private static func make() throws(DTLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let context = SSL_CTX_new(DTLS_method()) else { throw .library("SSL_CTX_new") }
        var isDone = false
        defer { if !isDone { SSL_CTX_free(context) } }

        talkpost_ssl_ctx_set_fixed_options(context)
        talkpost_ssl_ctx_set_largest_certificate(context, Int(DTLSRecords.largestMessage))
        let profiles = SRTPKeys.Profile.allCases.map(\.rawValue).joined(separator: ":")
        guard talkpost_ssl_ctx_set_dtls12_only(context) == 1,
            SSL_CTX_set_cipher_list(context, cipherSuites) == 1,
            talkpost_ssl_ctx_set_groups(context, "P-256:X25519:P-384") == 1,
            // The odd one out: 0 is success.
            SSL_CTX_set_tlsext_use_srtp(context, profiles) == 0
        else { throw .library("SSL_CTX set-up") }

        // No authority vouches for a WebRTC certificate; `DTLSTransport.peerMatches` decides (RFC 8827 5.6.4).
        SSL_CTX_set_cert_verify_callback(context, { _, _ in 1 }, nil)
        SSL_CTX_set_info_callback(context) { ssl, event, value in
            guard event & (SSL_CB_ALERT | SSL_CB_READ) == SSL_CB_ALERT | SSL_CB_READ else { return }
            DatagramBIO.behind(ssl)?.alertReceived = UInt8(truncatingIfNeeded: value)
        }
        isDone = true
        return context
    }

    /// AEAD suites with forward secrecy (RFC 8827 6.5 asks for the first).
    private static let cipherSuites = [
        "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305",
        "ECDHE-RSA-CHACHA20-POLY1305", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384",
    ].joined(separator: ":")
}
