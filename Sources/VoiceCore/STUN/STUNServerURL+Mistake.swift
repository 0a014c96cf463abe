extension STUNServerURL {
    /// Why a text names no server that can be used.
    enum Mistake: Equatable, Sendable {
        /// No URL of a STUN or TURN server.
        case scheme
        /// A user's name or a password is in it.
        case account
        /// STUN with a transport (RFC 7064 3.1 knows none), or over TLS.
        case transportOfReflection
        /// TURN over something else than UDP, TCP or TLS.
        case transportOfRelay
        /// What stands behind the scheme is no host and port.
        case place
    }

    /// What is wrong with a URL that a person wrote; nil: nothing. More is taken than is to be written, as from a backend.
    static func mistake(in text: String) -> Mistake? {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let hasTransport = text.utf8.contains(UInt8(ascii: "?"))
        switch scheme {
        case "stuns": return .transportOfReflection
        case "stun", "turn", "turns": break
        default: return .scheme
        }
        if text.utf8.contains(UInt8(ascii: "@")) { return .account }
        if scheme == "stun", hasTransport { return .transportOfReflection }
        guard STUNServerURL(text) == nil else { return nil }
        let withoutTransport = String(text.prefix { $0 != "?" })
        return hasTransport && STUNServerURL(withoutTransport) != nil ? .transportOfRelay : .place
    }
}

extension STUNServerURL.Mistake {
    var what: String {
        switch self {
        case .scheme: "it is no URL of a STUN or TURN server"
        case .account: "it has a user name or a password in it"
        case .transportOfReflection: "STUN is asked over UDP alone"
        case .transportOfRelay: "its transport is neither udp nor tcp, or one that its scheme does not have"
        case .place: "what follows the scheme is no host with a port"
        }
    }

    var cure: String {
        switch self {
        case .scheme: "write stun:HOST, turn:HOST or turns:HOST"
        case .account: "write turn:HOST alone, and USER:PASSWORD into the file of turn_credential"
        case .transportOfReflection: "write stun:HOST or stun:HOST:PORT, with nothing behind it"
        case .transportOfRelay: "write turn:HOST, turn:HOST?transport=tcp or turns:HOST"
        case .place: "write a name or an address, an IPv6 address in brackets, and perhaps a port: turn:HOST:PORT"
        }
    }
}
