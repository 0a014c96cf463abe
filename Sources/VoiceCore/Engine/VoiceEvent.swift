/// What the provider tells of a voice beside its sound, where it tells anything: each of these may be missing, or come twice.
public enum VoiceEvent: Equatable, Sendable {
    /// The session is there, and how long it may last where the provider says so, in seconds since 1970.
    case session(expiresAt: Double?)
    /// The provider hears the visitor begin to speak, or end.
    case visitorSpeaks(Bool)
    /// A line of the conversation goes on.
    case line(VoiceLine)
    /// The provider's answer begins to be made, or is done.
    case response(isRunning: Bool)
    /// The provider's voice begins to come, or ends.
    case providerSpeaks(Bool)
    /// What the provider had said and was not heard yet is void: what waits to be played is dropped.
    case outputCleared
    /// The session is over; the voice closes. Whether because no session lasts longer.
    case sessionOver(isExpiry: Bool)
    /// An event of this type that says nothing to this client.
    case unknown(type: String)
}

/// A step of a line of the conversation: what the visitor or the provider says, in words.
public struct VoiceLine: Equatable, Sendable {
    /// Who says it (the contract's `voice.role`).
    public enum Role: String, Sendable {
        case user
        case assistant
    }

    /// How far the line is.
    public enum Step: Equatable, Sendable {
        /// These words are added to it.
        case added(String)
        /// It is over; this is all of it.
        case ended(String)
    }

    /// Whose words these are.
    public var role: Role
    /// What the provider calls the line by; empty where it does not.
    public var id: String
    /// What becomes of the line now.
    public var step: Step

    var byteCount: Int {
        switch step {
        case .added(let text), .ended(let text): id.utf8.count + text.utf8.count
        }
    }

    /// A step as a host's tests may make it up.
    public init(role: Role, id: String, step: Step) {
        self.role = role
        self.id = id
        self.step = step
    }
}
