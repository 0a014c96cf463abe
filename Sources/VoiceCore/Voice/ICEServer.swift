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

extension ICEServer {
    /// How many servers a voice uses at most; more are left out.
    package static var limit: Int { Reach.serverLimit }

    /// Whether a voice can use the server that a URL names.
    package static func canUse(_ url: String) -> Bool { STUNServerURL(url) != nil }

    /// Whether a URL names a relay, which wants to know who uses it.
    package static func isRelay(_ url: String) -> Bool {
        switch STUNServerURL(url)?.service {
        case .relay: true
        case .reflection, nil: false
        }
    }

    /// What is wrong with a URL as it is written, and the cure; nil: nothing. A few that `canUse` takes are not written so.
    package static func mistake(in url: String) -> (what: String, cure: String)? {
        STUNServerURL.mistake(in: url).map { ($0.what, $0.cure) }
    }
}
