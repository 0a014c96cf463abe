import VoiceCore

/// A voice that the backend started, with what else its answer said.
struct BackendVoice: Sendable {
    /// A text that the provider wants to hear on the data channel, else it takes us for gone.
    struct KeepAlive: Equatable, Sendable {
        var text: String
        var every: Duration
    }

    var started: PBStartedVoice
    /// The servers that the answer names, for candidates beyond the local ones.
    var iceServers: [BackendICEServer] = []
    var keepAlive: KeepAlive?
    /// WHIP's name for the state of the session (RFC 9725 4.3.1); nil: none was given.
    var entityTag: String?
}

/// What must be known of a voice to close it, also after a power cut. It holds no secret of ours; a location may be one of the
/// backend's.
struct UnclosedVoice: Equatable, Sendable {
    var kind: BackendKind
    var id: String
    var chat: String
    /// The voice's own address, where the backend gave it one.
    var location: String?
}

/// What is to be sent to the backend, but for its credentials.
struct BackendMessage: Sendable {
    var method: HTTPRequest.Method
    var url: String
    /// Whole header lines.
    var headers: [String]
    /// What it is for, for errors: "start a voice".
    var purpose: String
}
