/// When the engine wants to be called again, and what for.
///
/// The reason is carried so that a log, a test or a debugger can say why a thread woke.
struct Deadline: Equatable, Sendable {
    enum Reason: String, Sendable {
        case iceCheck
        case iceNomination
        case iceConsent
        case reach
        case dtlsRetransmission
        case rtcpReport
        case dataChannel
        case turnEnd
        case closing
    }

    var at: Instant
    var reason: Reason

    /// The earlier of two deadlines, either of which may be missing.
    static func earliest(_ a: Deadline?, _ b: Deadline?) -> Deadline? {
        guard let a else { return b }
        guard let b else { return a }
        return b.at < a.at ? b : a
    }
}
