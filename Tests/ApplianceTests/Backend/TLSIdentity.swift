import COpenSSL
import Glibc

/// A certificate that signs itself, and its key: a test server's, a test client's. Its owner frees both.
final class TLSIdentity: @unchecked Sendable {  // never changed once made
    let certificate: OpaquePointer
    let key: OpaquePointer

    /// - Parameters:
    ///   - name: the host whose certificate it is.
    ///   - validFrom: as ASN.1 writes a time, "20000101000000Z".
    init(name: String, validFrom: String = "20000101000000Z", validTo: String = "20991231235959Z") {
        let parameters = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(parameters) }
        var key: OpaquePointer?
        EVP_PKEY_keygen_init(parameters)
        EVP_PKEY_CTX_set_ec_paramgen_curve_nid(parameters, NID_X9_62_prime256v1)
        EVP_PKEY_keygen(parameters, &key)
        let certificate = X509_new()!
        X509_set_version(certificate, 2)
        ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...1_000_000))
        X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, name, -1, -1, 0)
        X509_set_issuer_name(certificate, X509_get_subject_name(certificate))
        ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), validFrom)
        ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), validTo)
        X509_set_pubkey(certificate, key)
        X509_sign(certificate, key, EVP_sha256())
        self.certificate = certificate
        self.key = key!
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
    }

    /// Writes certificate and key into one PEM file.
    func write(to path: String) {
        guard let file = fopen(path, "w") else { return }
        PEM_write_X509(file, certificate)
        PEM_write_PrivateKey(file, key, nil, nil, 0, nil, nil)
        fclose(file)
    }

    /// As `pinned_key` names its key.
    var pin: String {
        var der: UnsafeMutablePointer<UInt8>?
        let count = Int(i2d_PUBKEY(key, &der))
        var digest = [UInt8](repeating: 0, count: 32)
        SHA256(der, count, &digest)
        CRYPTO_free(der, nil, 0)
        var text = [UInt8](repeating: 0, count: 45)
        EVP_EncodeBlock(&text, digest, 32)
        return "sha256//" + String(decoding: text.dropLast(), as: UTF8.self)
    }
}

/// How a test server speaks TLS.
final class TLSServer: @unchecked Sendable {  // OpenSSL's contexts may be shared once they are set up
    private let context: OpaquePointer

    /// - Parameter client: whose certificate a client must show; nil: nobody's.
    init(_ identity: TLSIdentity, client: TLSIdentity? = nil) {
        signal(SIGPIPE, SIG_IGN)  // OpenSSL writes to sockets that the far end has closed; the program ignores it too
        context = SSL_CTX_new(TLS_server_method())!
        SSL_CTX_use_certificate(context, identity.certificate)
        SSL_CTX_use_PrivateKey(context, identity.key)
        guard let client else { return }
        X509_STORE_add_cert(SSL_CTX_get_cert_store(context), client.certificate)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    deinit {
        SSL_CTX_free(context)
    }

    /// nil where the handshake fails.
    func accept(_ socket: Int32) -> TLSConnection? {
        let connection = TLSConnection(SSL_new(context)!)
        SSL_set_fd(connection.ssl, socket)
        return SSL_accept(connection.ssl) == 1 ? connection : nil
    }
}

/// One TLS connection, used by one thread at a time.
final class TLSConnection: @unchecked Sendable {
    let ssl: OpaquePointer

    init(_ ssl: OpaquePointer) {
        self.ssl = ssl
    }

    deinit {
        SSL_free(ssl)
    }

    func send(_ bytes: UnsafeRawBufferPointer) { _ = SSL_write(ssl, bytes.baseAddress, Int32(bytes.count)) }

    func receive(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        Int(SSL_read(ssl, buffer.baseAddress, Int32(buffer.count)))
    }

    func close() { SSL_shutdown(ssl) }
}
