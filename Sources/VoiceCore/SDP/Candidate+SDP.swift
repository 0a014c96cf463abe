extension Candidate {
    /// Reads the value of an a=candidate line (RFC 8839 5.1, RFC 6544 4.5).
    ///
    /// Nil for what is never used: another component than 1 (rtcp-mux is required), a host or mDNS name, an address nobody can be
    /// reached at, an unknown transport or kind, and whatever cannot be read.
    init?(sdp value: SDPText) {
        var value = value
        guard let foundation = value.word(), foundation.isVisibleASCII,
            let component = value.word(), component.number == 1,
            let transport = value.word()?.string.lowercased(),
            let priority = value.word()?.number,
            let ip = value.word().flatMap({ IPAddress(sdp: $0) }), ip.canBeReached,
            let port = value.word()?.number(as: UInt16.self), port != 0,
            value.word()?.string.lowercased() == "typ",
            let kind = value.word().flatMap({ Kind(rawValue: $0.string.lowercased()) })
        else { return nil }

        var relatedIP: IPAddress?
        var relatedPort: UInt16?
        var tcpType: TCPType?
        while let name = value.word(), let extensionValue = value.word() {
            switch name.string {
            case "raddr": relatedIP = IPAddress(sdp: extensionValue)
            case "rport": relatedPort = extensionValue.number(as: UInt16.self)
            case "tcptype": tcpType = TCPType(rawValue: extensionValue.string.lowercased())
            default: break
            }
        }

        self.foundation = foundation.string
        switch transport {
        case "udp": self.transport = .udp
        case "tcp":
            guard let tcpType else { return nil }
            self.transport = .tcp(tcpType)
        default: return nil
        }
        // RFC 8445 5.1.2: 1 to 2^31 - 1; pair priorities are computed from it without overflow
        self.priority = UInt32(min(max(priority, 1), 0x7FFF_FFFF))
        self.address = SocketAddress(ip: ip, port: port)
        self.kind = kind
        if let relatedIP, let relatedPort {
            related = SocketAddress(ip: relatedIP, port: relatedPort)
        }
    }

    /// The value of its a=candidate line.
    var sdp: String {
        var text = "\(foundation) 1 \(transport.sdp) \(priority) \(address.ip) \(address.port) typ \(kind.rawValue)"
        if let related { text += " raddr \(related.ip) rport \(related.port)" }
        if case .tcp(let type) = transport { text += " tcptype \(type.rawValue)" }
        return text
    }
}

extension Candidate.Transport {
    fileprivate var sdp: String {
        switch self {
        case .udp: "udp"
        case .tcp: "tcp"
        }
    }
}

extension IPAddress {
    /// Only text that is an address to its last byte; inet_pton would stop at a NUL.
    fileprivate init?(sdp text: SDPText) {
        guard text.isVisibleASCII else { return nil }
        self.init(text.string)
    }

    /// False for the unspecified address and for multicast (RFC 1122 3.2.1.3, RFC 4291 2.5.2 and 2.7).
    fileprivate var canBeReached: Bool {
        switch self {
        case .v4(let bits): bits >> 24 != 0 && bits >> 28 < 0xE
        case .v6(let high, let low, _): (high != 0 || low != 0) && high >> 56 != 0xFF
        }
    }
}
