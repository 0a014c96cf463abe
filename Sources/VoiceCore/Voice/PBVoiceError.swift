/// Everything that a voice throws or reports.
public struct PBVoiceError: Error, Sendable, CustomStringConvertible {
    /// All that can go wrong, each with the contract's word for it.
    public enum Code: String, Sendable, CaseIterable {
        /// The microphone cannot be had; nothing was posted.
        case microphoneDenied = "microphone_denied"
        /// The audio session or the speaker could not be set up.
        case audioSession = "audio_session"
        /// The connecting task was cancelled; whatever was opened is closed.
        case cancelled
        /// `start` threw: the backend's refusal is in `underlying`.
        case refused
        /// The provider's answer is not one this client can use.
        case invalidAnswer = "invalid_answer"
        /// There is no network interface to make an offer with.
        case noNetwork = "no_network"
        /// No path, no DTLS, a wrong fingerprint, or consent ran out.
        case unreachable
        /// Nothing at all came back over UDP, and there was no other way.
        case udpBlocked = "udp_blocked"
        /// The provider's word that something went wrong in the voice; the voice may go on.
        case providerError = "provider_error"
        /// The host made a mistake: no `PBVoice.audioDevice`, or a setting out of range.
        case invalidConfiguration = "invalid_configuration"
    }

    /// Stable, snake_case: what a program decides by.
    public var code: String { kind.rawValue }
    /// The code, for a switch without default.
    public let kind: Code
    /// A sentence: what, where, and the cure.
    public let message: String
    /// The error this one stands for, where there is one: what `start` threw, or the device's.
    public let underlying: (any Error)?

    public var description: String { "\(code): \(message)" }

    init(_ kind: Code, _ message: String, underlying: (any Error)? = nil) {
        self.kind = kind
        self.message = message
        self.underlying = underlying
    }
}
