/// Walks the records of one datagram and passes on those that OpenSSL may see.
///
/// Made for each datagram by the DTLS transport, on the network thread; it must not outlive the datagram. Before there are keys
/// anyone who can reach our port can write a record, and OpenSSL ends the handshake at the first that breaks a rule. So what no
/// honest peer sends is left out here, and a plaintext alert is only remembered. What this cannot see is a forged handshake message
/// that is well-formed: it spoils the handshake, as it does in every DTLS 1.2 implementation.
struct DTLSRecords {
    private var reader: ByteReader
    private let role: DTLSRole
    /// Once connected every record is authenticated, and OpenSSL itself drops those that are not.
    private let isConnected: Bool
    private(set) var malformed = 0
    private(set) var unauthenticatedAlerts = 0
    /// The code of the last fatal alert or close_notify that came in plaintext.
    private(set) var plaintextAlert: UInt8?

    init(_ datagram: UnsafeRawBufferPointer, role: DTLSRole, isConnected: Bool) {
        reader = ByteReader(datagram)
        self.role = role
        self.isConnected = isConnected
    }

    var remaining: Int { reader.remaining }

    /// The next record, header included; nil at the datagram's end.
    mutating func next() -> UnsafeRawBufferPointer? {
        while !reader.isAtEnd {
            do {
                if let record = try record() { return record }
            } catch {
                malformed += 1
                _ = reader.rest()
            }
        }
        return nil
    }

    /// RFC 6347 4.1: type, version, epoch, sequence number, length. Nil for a record that is left out.
    private mutating func record() throws(Truncated) -> UnsafeRawBufferPointer? {
        var header = reader
        let kind = try header.uint8()
        let version = try header.uint16()
        let epoch = try header.uint16()
        _ = try header.uint48()
        let length = Int(try header.uint16())
        let record = try reader.slice(DTLSRecords.headerByteCount + length)
        let body = try header.slice(length)
        // 1.2 and 1.0, which a ClientHello's record may carry (RFC 6347 4.2.1).
        guard version == 0xFEFD || version == 0xFEFF else {
            malformed += 1
            return nil
        }
        return isConnected || epoch > 0 || accepts(kind: kind, body: body) ? record : nil
    }

    /// Whether a plaintext record may come in a handshake. Kinds as in RFC 5246 6.2.1.
    private mutating func accepts(kind: UInt8, body: UnsafeRawBufferPointer) -> Bool {
        switch kind {
        case 20:  // change_cipher_spec, RFC 5246 7.1
            if body.count == 1, body.first == 1 { return true }
        case 21:  // alert, RFC 5246 7.2: level (2: fatal), description (0: close_notify)
            var alert = ByteReader(body)
            if body.count == 2, let level = try? alert.uint8(), let code = try? alert.uint8() {
                if level == 2 || code == 0 { plaintextAlert = code }
                unauthenticatedAlerts += 1
                return false
            }
        case 22:
            if isHandshake(body) { return true }
        default:
            break
        }
        malformed += 1
        return false
    }

    /// Whether a plaintext handshake record holds only whole fragments of messages that our role awaits (RFC 6347 4.2.2).
    private func isHandshake(_ body: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(body)
        guard !reader.isAtEnd else { return false }
        do {
            while !reader.isAtEnd {
                let kind = try reader.uint8()
                let length = try reader.uint24()
                _ = try reader.uint16()
                let fragmentOffset = try reader.uint24()
                let fragmentLength = try reader.uint24()
                guard awaits(kind), length <= DTLSRecords.largestMessage, fragmentOffset <= length,
                    fragmentLength <= length - fragmentOffset, fragmentLength > 0 || length == 0
                else { return false }
                try reader.skip(Int(fragmentLength))
            }
        } catch {
            return false
        }
        return true
    }

    /// RFC 5246 7.4 and RFC 6347 4.3.2. Finished is never in plaintext.
    private func awaits(_ kind: UInt8) -> Bool {
        switch role {
        // server_hello, hello_verify_request, certificate, server_key_exchange, certificate_request, server_hello_done
        case .client: [2, 3, 11, 12, 13, 14].contains(kind)
        // client_hello, certificate, certificate_verify, client_key_exchange
        case .server: [1, 11, 15, 16].contains(kind)
        }
    }

    /// RFC 6347 4.1.
    private static let headerByteCount = 13
    /// More than a chain of three RSA-4096 certificates; also what OpenSSL is told.
    static let largestMessage: UInt32 = 32_768
}
