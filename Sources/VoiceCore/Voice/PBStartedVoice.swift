/// What the backend answers to an offer: the voice it started and the provider's answer.
public struct PBStartedVoice: Sendable {
    /// What the backend calls the voice by.
    public let id: String
    /// The provider's answer, an SDP.
    public let sdp: String

    public init(id: String, sdp: String) {
        self.id = id
        self.sdp = sdp
    }
}
