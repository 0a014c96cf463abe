/// What the backend answers to an offer: the voice it started and the provider's answer.
public struct PBStartedVoice: Sendable {
    /// What the backend calls the voice by.
    public let id: String
    /// The provider's answer, an SDP.
    public let sdp: String
    /// STUN and TURN servers that the backend named with its answer: used by this voice and the next.
    public var iceServers: [ICEServer] = []

    public init(id: String, sdp: String) {
        self.id = id
        self.sdp = sdp
    }
}
