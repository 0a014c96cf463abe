/// Whether the peer still wants what we send it (RFC 7675): when to ask on the selected pair, and what its silence means.
///
/// Owned by the agent from the first selection on. It knows only times; the agent sends the checks and tells of the answers.
struct ConsentFreshness: Sendable {
    /// What is due now.
    enum Due: Sendable {
        case nothing
        case check
        case disconnected
        case expired
    }

    // RFC 7675 5.1: 5 s times 0.8 to 1.2, never below 4 s. The shorter part of it, so that the answer to the next check can be
    // there before `silence` has passed.
    static let shortestInterval: Duration = .milliseconds(4000)
    static let longestInterval: Duration = .milliseconds(4800)
    /// After this long without a valid answer the path counts as disconnected.
    static let silence: Duration = .seconds(5)
    /// RFC 7675 5.1: consent expires 30 s after the last valid answer.
    static let expiry: Duration = .seconds(30)

    private(set) var lastAnswer: Instant
    private(set) var isDisconnected = false
    /// Nil for a lite agent, which sends no checks and takes the peer's as its signs of life.
    private var nextCheck: Instant?
    /// From when silence counts: the last answer, or the later change to another pair.
    private var listeningSince: Instant

    /// - Parameters:
    ///   - lastAnswer: when the selected pair was last answered.
    ///   - asks: false for a lite agent.
    init(lastAnswer: Instant, asks: Bool, entropy: inout Entropy, at now: Instant) {
        self.lastAnswer = lastAnswer
        listeningSince = now
        nextCheck = asks ? now + Self.interval(&entropy) : nil
    }

    /// Goes over to another pair, on which the peer is asked at once.
    mutating func move(lastAnswer: Instant, at now: Instant) {
        self.lastAnswer = lastAnswer
        listeningSince = now
        if nextCheck != nil { nextCheck = now }
    }

    /// - Returns: true where this answer ends a disconnection.
    mutating func answered(at now: Instant) -> Bool {
        lastAnswer = now
        listeningSince = now
        defer { isDisconnected = false }
        return isDisconnected
    }

    /// The selected pair is gone and no other is there.
    /// - Returns: true where this begins a disconnection.
    mutating func noteLoss() -> Bool {
        defer { isDisconnected = true }
        return !isDisconnected
    }

    /// Call until nothing is due.
    mutating func handleTimeout(entropy: inout Entropy, at now: Instant) -> Due {
        if now >= lastAnswer + Self.expiry { return .expired }
        if let disconnection, now >= disconnection {
            isDisconnected = true
            return .disconnected
        }
        if let check = nextCheck, now >= check {
            nextCheck = now + Self.interval(&entropy)
            return .check
        }
        return .nothing
    }

    var deadline: Instant {
        var earliest = lastAnswer + Self.expiry
        if let disconnection { earliest = min(earliest, disconnection) }
        if let nextCheck { earliest = min(earliest, nextCheck) }
        return earliest
    }

    /// When the silence will count as a disconnection. A full peer asks a lite agent only every 4 to 6 s, which is no measure.
    private var disconnection: Instant? {
        isDisconnected || nextCheck == nil ? nil : listeningSince + Self.silence
    }

    private static func interval(_ entropy: inout Entropy) -> Duration {
        .nanoseconds(
            Int64.random(in: shortestInterval.wholeNanoseconds...longestInterval.wholeNanoseconds, using: &entropy))
    }
}
