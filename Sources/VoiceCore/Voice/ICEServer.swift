/// A STUN or TURN server, in the words of WebRTC's `RTCIceServer`. Its credential is in no description.
public struct ICEServer: Equatable, Sendable, CustomStringConvertible {
    /// Of RFC 7064 and 7065, such as "stun:stun.example.org" or "turns:turn.example.org?transport=tcp".
    public var urls: [String]
    /// TURN alone asks for one.
    public var username: String?
    /// The password that belongs to it.
    public var credential: String?

    public init(urls: [String], username: String? = nil, credential: String? = nil) {
        self.urls = urls
        self.username = username
        self.credential = credential
    }

    public var description: String { "ICEServer(\(urls.count) URLs)" }
}
