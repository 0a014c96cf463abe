/// A transport address at which an ICE agent may be reached (RFC 8445 5.1.1, text form in RFC 8839 5.1).
///
/// SDP reads and writes it, ICE pairs it. Only component 1 is ever used, because rtcp-mux is required.
struct Candidate: Hashable, Sendable {
    enum Kind: String, Sendable {
        case host
        case serverReflexive = "srflx"
        case peerReflexive = "prflx"
        case relayed = "relay"
    }

    enum Transport: Hashable, Sendable {
        case udp
        /// RFC 6544: who opens the connection.
        case tcp(TCPType)
    }

    enum TCPType: String, Sendable {
        case active
        case passive
        case simultaneousOpen = "so"
    }

    /// 1 to 32 ice-chars; equal for candidates of one base, kind and server.
    var foundation: String
    var transport: Transport
    var priority: UInt32
    var address: SocketAddress
    var kind: Kind
    /// The base of a reflexive or the mapped address of a relayed candidate (raddr, rport); for diagnosis only.
    var related: SocketAddress?

    /// RFC 8445 5.1.2.1 for component 1.
    /// - Parameters:
    ///   - localPreference: higher is better, the same for no two addresses of one kind.
    static func priority(_ kind: Kind, localPreference: UInt16) -> UInt32 {
        let typePreference: UInt32 =
            switch kind {  // RFC 8445 5.1.2.2
            case .host: 126
            case .peerReflexive: 110
            case .serverReflexive: 100
            case .relayed: 0
            }
        return priority(typePreference: typePreference, localPreference: localPreference)
    }

    /// - Parameter typePreference: 0 to 126.
    static func priority(typePreference: UInt32, localPreference: UInt16) -> UInt32 {
        typePreference << 24 | UInt32(localPreference) << 8 | 255
    }
}

/// The user name fragment and password of one side of an ICE session (RFC 8839 5.4).
struct ICECredentials: Hashable, Sendable {
    /// 4 to 256 ice-chars.
    var fragment: String
    /// 22 to 256 ice-chars.
    var password: String

    init(fragment: String, password: String) {
        self.fragment = fragment
        self.password = password
    }

    /// Fresh ones: 24 bits of fragment and 144 bits of password (RFC 8445 5.3 asks for 24 and 128 at least).
    init(from entropy: inout Entropy) {
        fragment = entropy.iceText(length: 4)
        password = entropy.iceText(length: 24)
    }
}
