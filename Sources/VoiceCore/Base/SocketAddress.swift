internal import CLinux

/// An IPv4 or IPv6 address.
enum IPAddress: Hashable, Sendable {
    /// The four bytes in network order, as one number.
    case v4(UInt32)
    /// The sixteen bytes in network order, and the interface index a link-local address belongs to (0: none).
    case v6(high: UInt64, low: UInt64, scope: UInt32 = 0)

    var isIPv6: Bool {
        switch self {
        case .v4: false
        case .v6: true
        }
    }

    /// fe80::/10 (RFC 4291 2.5.6) or 169.254/16 (RFC 3927).
    var isLinkLocal: Bool {
        switch self {
        case .v4(let bits): bits >> 16 == 0xA9FE
        case .v6(let high, _, _): high >> 54 == 0x3FA
        }
    }

    var isLoopback: Bool {
        switch self {
        case .v4(let bits): bits >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    /// The address in its text form, for example "192.0.2.1" or "2001:db8::1"; nil for anything else, host names too.
    init?(_ text: some StringProtocol) {
        let text = String(text)
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self = .v4(UInt32(bigEndian: v4.s_addr))
            return
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        let (high, low) = withUnsafeBytes(of: v6) {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        self = .v6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
    }
}

extension IPAddress: CustomStringConvertible {
    var description: String {
        switch self {
        case .v4(let bits):
            return "\(bits >> 24).\(bits >> 16 & 255).\(bits >> 8 & 255).\(bits & 255)"
        case .v6(let high, let low, _):
            var raw = (high.bigEndian, low.bigEndian)
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
                guard inet_ntop(AF_INET6, &raw, text.baseAddress, socklen_t(INET6_ADDRSTRLEN)) != nil else { return "" }
                return text.baseAddress.map { String(cString: $0) } ?? ""
            }
        }
    }
}

/// An IP address with a port.
struct SocketAddress: Hashable, Sendable {
    var ip: IPAddress
    var port: UInt16
}

extension SocketAddress: CustomStringConvertible {
    var description: String { ip.isIPv6 ? "[\(ip)]:\(port)" : "\(ip):\(port)" }
}

/// One local transport through which datagrams come and go: a UDP socket today, a TCP connection or a TURN allocation alike.
///
/// Given out by the runtime, or by the virtual network in tests; the engine only compares it.
struct PathID: Hashable, Sendable {
    var rawValue: UInt16
}

/// Where a datagram came from or goes to: the local transport and the far end's address.
struct Route: Hashable, Sendable {
    var path: PathID
    var remote: SocketAddress
}
