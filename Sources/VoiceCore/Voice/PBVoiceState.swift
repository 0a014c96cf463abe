/// The state of a voice's connection (the contract's six, W3C WebRTC 4.3.3).
public enum PBVoiceState: String, Sendable, CaseIterable {
    case new
    case connecting
    /// Media flows: a path was found, DTLS is up and the provider's fingerprint matched.
    case connected
    /// Nothing valid has come back for 5 s; it may recover by itself.
    case disconnected
    /// It could not be connected, or consent ran out (RFC 7675); it does not recover.
    case failed
    case closed
}
