/// A STUN or TURN server that the voice may use, its name already looked up.
struct ReachServer: Equatable, Sendable {
    var service: STUNServerURL.Service
    var transport: STUNServerURL.Transport
    var address: SocketAddress
    /// As the URL has it: what a certificate must name, and what an HTTP proxy is asked for.
    var host: String
    var username = ""
    var password = ""
}

/// An HTTP proxy that opens connections for us (CONNECT).
struct ReachProxy: Equatable, Sendable {
    var address: SocketAddress
    /// "user:password", or nil where it asks for none.
    var credential: String?
}
