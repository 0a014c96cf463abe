internal import COpenSSL

/// A key and its self-signed certificate, and the OpenSSL context every association made with it shares.
///
/// Owned by the runtime, which makes it before it is needed; any thread may use it. It is never written to a disk, says nothing
/// about whose it is, and never changes.
final class DTLSIdentity: Sendable {
    private let fingerprints: [Fingerprint.Algorithm: Fingerprint]

    // Set up in init and only read afterwards; SSL_new counts its references atomically.
    nonisolated(unsafe) let context: OpaquePointer

    /// A fresh ECDSA P-256 key, which every WebRTC peer takes (RFC 8827 6.5).
    /// - Throws: `library` where OpenSSL has no memory or no randomness; there is no voice then.
    convenience init() throws(DTLSError) {
        try self.init(privateKey: DTLSIdentity.makeP256Key())
    }

    /// - Parameter privateKey: an EVP_PKEY, which becomes ours.
    init(privateKey: OpaquePointer) throws(DTLSError) {
        defer { EVP_PKEY_free(privateKey) }
        let certificate = try DTLSIdentity.makeCertificate(for: privateKey)
        defer { X509_free(certificate) }
        var fingerprints: [Fingerprint.Algorithm: Fingerprint] = [:]
        for algorithm in Fingerprint.Algorithm.allCases {
            fingerprints[algorithm] = try Fingerprint(of: certificate, by: algorithm)
        }
        self.fingerprints = fingerprints
        context = try DTLSIdentity.makeContext(privateKey: privateKey, certificate: certificate)
    }

    deinit {
        SSL_CTX_free(context)
    }

    func fingerprint(_ algorithm: Fingerprint.Algorithm) -> Fingerprint {
        guard let fingerprint = fingerprints[algorithm] else {
            preconditionFailure("init makes one for each algorithm")
        }
        return fingerprint
    }

    /// OpenSSL's version, for example "OpenSSL 3.0.15 3 Sep 2024".
    static var libraryVersion: String {
        OpenSSL_version(OPENSSL_VERSION).map { String(cString: $0) } ?? "OpenSSL"
    }

    private static func makeP256Key() throws(DTLSError) -> OpaquePointer {
        ERR_clear_error()
        let parameters = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(parameters) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(parameters) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(parameters, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(parameters, &key) == 1, let key
        else { throw .library("EVP_PKEY_keygen") }
        return key
    }

    /// A version 3 certificate, signed by its own key with SHA-256.
    private static func makeCertificate(for key: OpaquePointer) throws(DTLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let certificate = X509_new() else { throw .library("X509_new") }
        var isDone = false
        defer { if !isDone { X509_free(certificate) } }

        var serial = [UInt8](repeating: 0, count: 16)  // RFC 5280 4.1.2.2: positive, at most 20 bytes
        guard RAND_bytes(&serial, 16) == 1 else { throw .library("RAND_bytes") }
        serial[0] = serial[0] & 0x7F | 0x40
        let number = BN_bin2bn(serial, 16, nil)
        defer { BN_free(number) }

        let name = X509_get_subject_name(certificate)
        guard X509_set_version(certificate, 2) == 1,
            BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nil,
            X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "WebRTC", -1, -1, 0) == 1,
            X509_set_issuer_name(certificate, name) == 1,
            // Long enough on both sides that a wrong clock, ours or theirs, does not matter: the fingerprint decides.
            ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), "20000101000000Z") == 1,
            ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), "20991231235959Z") == 1,
            X509_set_pubkey(certificate, key) == 1,
            X509_sign(certificate, key, EVP_sha256()) > 0
        else { throw .library("X509_sign") }
        isDone = true
        return certificate
    }

    private static func makeContext(privateKey: OpaquePointer, certificate: OpaquePointer) throws(DTLSError)
        -> OpaquePointer
    {
        ERR_clear_error()
        guard let context = SSL_CTX_new(DTLS_method()) else { throw .library("SSL_CTX_new") }
        var isDone = false
        defer { if !isDone { SSL_CTX_free(context) } }

        talkpost_ssl_ctx_set_fixed_options(context)
        talkpost_ssl_ctx_set_largest_certificate(context, Int(DTLSRecords.largestMessage))
        guard talkpost_ssl_ctx_set_dtls12_only(context) == 1,
            SSL_CTX_set_cipher_list(context, cipherSuites) == 1,
            talkpost_ssl_ctx_set_groups(context, "P-256:X25519:P-384") == 1,
            SSL_CTX_use_certificate(context, certificate) == 1,
            SSL_CTX_use_PrivateKey(context, privateKey) == 1,
            // The odd one out: 0 is success.
            SSL_CTX_set_tlsext_use_srtp(context, SRTPKeys.Profile.allCases.map(\.rawValue).joined(separator: ":")) == 0
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

extension Fingerprint {
    /// - Parameter certificate: an X509.
    init(of certificate: OpaquePointer, by algorithm: Algorithm) throws(DTLSError) {
        ERR_clear_error()
        let method =
            switch algorithm {
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        var digest = [UInt8](repeating: 0, count: algorithm.byteCount)
        var count: UInt32 = 0
        guard X509_digest(certificate, method, &digest, &count) == 1, Int(count) == algorithm.byteCount else {
            throw .library("X509_digest")
        }
        self.init(algorithm: algorithm, digest: digest)
    }
}
