/// A STUN or TURN server as configs and backends name it (RFC 7064, RFC 7065): `stun:host:port`, `turn:host:port?transport=udp`,
/// `turns:host`. IPv6 addresses stand in brackets.
struct STUNServerURL: Hashable, Sendable {
    enum Service: Sendable {
        /// Says how we look from outside.
        case reflection
        /// Carries our datagrams (TURN).
        case relay
    }

    enum Transport: Sendable {
        case udp
        case tcp
        case tls
    }

    var service: Service
    var transport: Transport
    /// A name or an address, without brackets.
    var host: String
    var port: UInt16

    /// Nil for what is no such URL, and for transports that are left out: STUN over TCP or TLS, whose answer is no UDP
    /// candidate, and TURN over DTLS, which is hardly found anywhere.
    init?(_ text: String) {
        guard text.utf8.count <= 300, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = text[..<colon].lowercased()
        var rest = text[text.utf8.index(after: colon)...]
        var transport: String?
        if let question = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            let query = rest[rest.utf8.index(after: question)...].lowercased()
            guard query.hasPrefix("transport=") else { return nil }
            transport = String(query.dropFirst(10))
            rest = rest[..<question]
        }
        switch (scheme, transport) {
        case ("stun", nil), ("stun", "udp"): (service, self.transport) = (.reflection, .udp)
        case ("turn", nil), ("turn", "udp"): (service, self.transport) = (.relay, .udp)
        case ("turn", "tcp"): (service, self.transport) = (.relay, .tcp)
        case ("turns", nil), ("turns", "tcp"): (service, self.transport) = (.relay, .tls)
        default: return nil
        }
        guard let (host, port) = Self.hostAndPort(rest, default: scheme == "turns" ? 5349 : 3478) else { return nil }
        self.host = host
        self.port = port
    }

    /// - Parameter defaultPort: RFC 7064 3.2, RFC 7065 3.2.
    private static func hostAndPort(_ text: Substring, default defaultPort: UInt16) -> (String, UInt16)? {
        var bytes = text.utf8
        let host: Substring.UTF8View
        if bytes.first == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = bytes[bytes.index(after: bytes.startIndex)..<end]
            guard IPAddress(Substring(host))?.isIPv6 == true else { return nil }
            bytes = bytes[bytes.index(after: end)...]
        } else {
            let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
            host = bytes[..<end]
            bytes = bytes[end...]
            // RFC 1123 2.1 and RFC 3986 3.2.2, as far as a name can be looked up.
            let isName = { (byte: UInt8) in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
            guard (1...253).contains(host.count), host.allSatisfy(isName) else { return nil }
        }
        guard !bytes.isEmpty else { return (String(Substring(host)), defaultPort) }
        guard bytes.first == UInt8(ascii: ":"), let port = UInt16(Substring(bytes.dropFirst())), port != 0 else {
            return nil
        }
        return (String(Substring(host)), port)
    }
}
