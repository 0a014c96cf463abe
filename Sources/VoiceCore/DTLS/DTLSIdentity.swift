internal import COpenSSL

/// A key and its self-signed certificate.
///
/// Owned by the runtime, which makes a fresh one for each voice before it is needed; any thread may use it. It is never written to a
/// disk, says nothing about whose it is, and never changes.
final class DTLSIdentity: Sendable {
    private let fingerprints: [Fingerprint.Algorithm: Fingerprint]

    // Made in init and only read afterwards; OpenSSL counts their references atomically.
    nonisolated(unsafe) let privateKey: OpaquePointer
    // As the key.
    nonisolated(unsafe) let certificate: OpaquePointer

    /// A fresh ECDSA P-256 key, which every WebRTC peer takes (RFC 8827 6.5).
    /// - Throws: `library` where OpenSSL has no memory or no randomness; there is no voice then.
    convenience init() throws(DTLSError) {
        try self.init(privateKey: DTLSIdentity.makeP256Key())
    }

    /// - Parameter privateKey: an EVP_PKEY, which becomes ours.
    init(privateKey: OpaquePointer) throws(DTLSError) {
        var isDone = false
        defer { if !isDone { EVP_PKEY_free(privateKey) } }
        let certificate = try DTLSIdentity.makeCertificate(for: privateKey)
        defer { if !isDone { X509_free(certificate) } }
        var fingerprints: [Fingerprint.Algorithm: Fingerprint] = [:]
        for algorithm in Fingerprint.Algorithm.allCases {
            fingerprints[algorithm] = try Fingerprint(of: certificate, by: algorithm)
        }
        self.fingerprints = fingerprints
        self.privateKey = privateKey
        self.certificate = certificate
        isDone = true
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(privateKey)
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
