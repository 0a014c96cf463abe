/// What the agent tells the engine, in the order it happened.
enum ICEEvent: Equatable, Sendable {
    /// A check on this route was answered: datagrams may be sent there and are taken from there.
    /// Comes again for a route only where it was lost in between.
    case validPath(Route)
    /// Both sides use this route from now on. Comes again where the controlling side nominates another.
    case selected(Route)
    /// No valid answer for 5 s on the selected route; media goes on.
    case disconnected
    /// An answer came after `disconnected`.
    case recovered
    /// The end: the agent sends and takes nothing more.
    case failed(ICEFailure)
}

/// Why a connection did not come about or ended, as a sentence an installer understands.
enum ICEFailure: Error, Equatable, Sendable {
    case noUsableCandidate
    case refused
    case noAnswer
    case notNominated
    case consentLost
    case notFollowed
}

extension ICEFailure: CustomStringConvertible {
    var description: String {
        switch self {
        case .noUsableCandidate:
            "The other side named no address that can be reached from this machine's networks, and did not call from one either."
        case .refused:
            "The other side answered every connectivity check with a refusal."
        case .noAnswer:
            "No connectivity check was answered: a firewall may be dropping UDP, or the other side has gone."
        case .notNominated:
            "A path was found, but the other side did not choose one in time."
        case .consentLost:
            "The other side has not answered for 30 seconds."
        case .notFollowed:
            "The network changed, and the other side did not follow to the new one."
        }
    }
}

/// What the agent counted, for the statistics line and for tests. Only ever grows.
struct ICEStatistics: Equatable, Sendable {
    /// Connectivity checks sent for the first time, retransmissions apart.
    var checksSent: UInt64 = 0
    var retransmissionsSent: UInt64 = 0
    var consentChecksSent: UInt64 = 0
    /// Authentic success responses.
    var answersReceived: UInt64 = 0
    /// Authentic requests, each of which was answered.
    var requestsReceived: UInt64 = 0
    var roleConflicts: UInt64 = 0

    // What was dropped, by reason.
    var malformed: UInt64 = 0
    var wrongFingerprint: UInt64 = 0
    /// Binding indications (keepalives) and other methods than Binding.
    var indications: UInt64 = 0
    /// On a path this agent does not have.
    var unknownPath: UInt64 = 0
    /// A request whose USERNAME is missing or another session's.
    var unknownUsername: UInt64 = 0
    /// A request or response whose MESSAGE-INTEGRITY is missing or wrong.
    var notAuthentic: UInt64 = 0
    /// A response to none of our requests.
    var unknownTransaction: UInt64 = 0
    /// An error response that is no role conflict.
    var refusals: UInt64 = 0
    /// A response that came from elsewhere than its request went to.
    var asymmetricAnswers: UInt64 = 0
    /// A message with attributes that must be understood and are not.
    var unknownAttributes: UInt64 = 0
    /// A candidate, pair or early check over the limit.
    var overLimit: UInt64 = 0
    /// A message that was to be sent and for which the queue or the buffer was too small.
    var notSent: UInt64 = 0
}
