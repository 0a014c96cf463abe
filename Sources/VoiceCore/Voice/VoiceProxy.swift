/// An HTTP proxy that opens a voice's connections (CONNECT), where the network lets nothing out but through it. Its credential is in no
/// description.
public struct VoiceProxy: Equatable, Sendable, CustomStringConvertible {
    /// A name or an address; IPv6 without brackets.
    public var host: String
    /// Where it listens.
    public var port: UInt16
    /// "user:password", or nil where it asks for none.
    public var credential: String?

    public init(host: String, port: UInt16, credential: String? = nil) {
        self.host = host
        self.port = port
        self.credential = credential
    }

    public var description: String { "VoiceProxy(\(host):\(port))" }
}
