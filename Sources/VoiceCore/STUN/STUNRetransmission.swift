/// When a request is sent again and when it is given up (RFC 8489 6.2.1): over UDP steadily, then at doubling intervals, over a
/// stream never.
///
/// A value of whoever sent the request; it knows only times.
struct STUNRetransmission: Sendable {
    /// What is due now.
    enum Due: Sendable {
        case nothing
        case send
        case giveUp
    }

    // RFC 8489 6.2.1 begins with 500 ms; the person at the button waits, so the first repetition comes as early as ICE's own.
    private static let firstWait: Duration = .milliseconds(100)
    // No source: with one datagram in five lost each way, all of these and the next two are lost once in a thousand times. All of it
    // lies within the second that a description waits for servers.
    private static let steadySends = 5
    // RFC 8489 6.2.1 has 7. The last is waited for as long as all before it together.
    private static let sends = 10
    // RFC 8489 6.2.2 waits 39.5 s on a stream; nobody at a button does.
    private static let streamWait: Duration = .seconds(10)

    let firstSentAt: Instant
    private(set) var deadline: Instant
    private let isReliable: Bool
    private var sendCount = 1

    /// - Parameter isReliable: it travels on a stream, which loses nothing.
    init(isReliable: Bool, at now: Instant) {
        self.isReliable = isReliable
        firstSentAt = now
        deadline = now + (isReliable ? Self.streamWait : Self.firstWait)
    }

    mutating func handleTimeout(at now: Instant) -> Due {
        guard now >= deadline else { return .nothing }
        guard !isReliable, sendCount < Self.sends else { return .giveUp }
        sendCount += 1
        // Doubling: the shift is at most 5.
        deadline = now + Self.firstWait * (1 << max(0, sendCount - Self.steadySends))
        return .send
    }
}
