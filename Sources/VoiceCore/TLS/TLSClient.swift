internal import COpenSSL

/// The client's side of one TLS connection, over bytes in memory: what came in, what is to go out.
///
/// Owns its OpenSSL objects; lives with the engine on the network thread. It verifies the server's certificate against the system's
/// authorities (or those that SSL_CERT_FILE names) and the host's name, and speaks TLS 1.2 or later. Left out: client
/// certificates, session resumption and 0-RTT, since a relay is asked once for each voice.
final class TLSClient {
    enum Phase: Equatable, Sendable {
        case handshaking
        case established
        /// The other side ended it well.
        case closed
        case failed(TLSFailure)
    }

    private(set) var phase = Phase.handshaking
    private let context: OpaquePointer
    private let ssl: OpaquePointer
    // Owned by `ssl`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    /// - Parameters:
    ///   - host: what the certificate must name: a DNS name, or an address.
    ///   - authorities: a file of certificates to trust; nil: the system's.
    /// - Throws: `TLSFailure.setup` where OpenSSL lacks memory or its settings refuse.
    init(host: String, authorities: String? = nil) throws(TLSFailure) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw .setup }
        let isTrusting =
            authorities.map { SSL_CTX_load_verify_locations(context, $0, nil) }
            ?? SSL_CTX_set_default_verify_paths(context)
        guard talkpost_ssl_ctx_set_tls12_at_least(context) == 1, isTrusting == 1,
            let ssl = SSL_new(context)
        else {
            SSL_CTX_free(context)
            throw .setup
        }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()),
            Self.expect(host, ssl)
        else {
            SSL_free(ssl)
            SSL_CTX_free(context)
            throw .setup
        }
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_set_verify(ssl, SSL_VERIFY_PEER, nil)
        SSL_set_connect_state(ssl)
        self.context = context
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        advance()
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    /// The server's name for SNI and for the certificate (RFC 6066 3, RFC 9525).
    private static func expect(_ host: String, _ ssl: OpaquePointer) -> Bool {
        if IPAddress(host) != nil {
            return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
        }
        return talkpost_ssl_set_server_name(ssl, host) == 1 && SSL_set1_host(ssl, host) == 1
    }

    /// Takes bytes of the connection.
    func receive(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
        advance()
    }

    /// Encrypts; nothing happens unless the connection is open.
    func write(_ bytes: UnsafeRawBufferPointer) {
        guard phase == .established, !bytes.isEmpty else { return }
        ERR_clear_error()
        note(SSL_write(ssl, bytes.baseAddress, Int32(bytes.count)))
    }

    /// The next bytes that the other side encrypted; nil where there are none.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard phase == .established else { return nil }
        ERR_clear_error()
        let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        guard count > 0 else {
            note(count)
            return nil
        }
        return Int(count)
    }

    /// The next bytes for the connection; nil where there are none.
    func nextOutgoing(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let count = BIO_read(outgoing, buffer.baseAddress, Int32(buffer.count))
        return count > 0 ? Int(count) : nil
    }

    private func advance() {
        guard phase == .handshaking else { return }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 { phase = .established } else { note(result) }
    }

    private func note(_ result: Int32) {
        guard result <= 0 else { return }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return
        case SSL_ERROR_ZERO_RETURN: phase = .closed
        default:
            let verdict = SSL_get_verify_result(ssl)
            if verdict != Int(X509_V_OK) {
                phase = .failed(.certificate(String(cString: X509_verify_cert_error_string(verdict))))
            } else {
                phase = .failed(.protocolError)
            }
        }
    }
}

/// Why a TLS connection cannot be used.
enum TLSFailure: Error, Equatable, Sendable, CustomStringConvertible {
    case setup
    /// The server's certificate is not trusted, not for this name, or not valid now; in OpenSSL's words.
    case certificate(String)
    case protocolError

    var description: String {
        switch self {
        case .setup: "TLS cannot be set up"
        case .certificate(let why): "its certificate is refused: \(why)"
        case .protocolError: "it does not speak TLS as it should"
        }
    }
}
