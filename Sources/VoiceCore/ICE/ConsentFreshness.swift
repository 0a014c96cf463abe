/// Whether the peer still wants what we send it (RFC 7675): when to ask on the selected pair, and what its silence means.
///
/// Owned by the agent from the first selection on. It knows only times; the agent sends the checks and tells of the answers.
struct ConsentFreshness: Sendable {
    /// What is due now.
    enum Due: Sendable {
        case nothing
        case check
        /// The last check is sent again, since it or its answer may be lost.
        case repetition
        case disconnected
        case expired
    }

    // RFC 7675 5.1: 5 s times 0.8 to 1.2, never below 4 s. The shorter part of it, so that the answer to the next check can be
    // there before `silence` has passed.
    static let shortestInterval: Duration = .milliseconds(4000)
    static let longestInterval: Duration = .milliseconds(4800)
    /// A check without an answer is repeated this often, this far apart. RFC 7675 counts on the next check alone; with one reply in
    /// three lost that ends one voice in three within the hour. Other agents repeat as well (libnice, libwebrtc).
    static let repetitions = 3
    static let repetitionInterval: Duration = .milliseconds(300)
    /// After this long without a valid answer the path counts as disconnected, if a check and its repetitions have had their time too.
    static let silence: Duration = .seconds(5)
    static let answerLimit: Duration = .milliseconds(1200)
    /// RFC 7675 5.1: consent expires 30 s after the last valid answer.
    static let expiry: Duration = .seconds(30)

    private(set) var lastAnswer: Instant
    private(set) var isDisconnected = false
    /// Nil for a lite agent, which sends no checks and takes the peer's as its signs of life.
    private var nextCheck: Instant?
    /// From when silence counts: the last answer, or the later change to another pair.
    private var listeningSince: Instant
    /// The first check since the last answer, and what is left to be done for the latest one.
    private var askedAt: Instant?
    private var nextRepetition: Instant?
    private var repetitionsLeft = 0

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
        askedAt = nil
        nextRepetition = nil
        if nextCheck != nil { nextCheck = now }
    }

    /// - Returns: true where this answer ends a disconnection.
    mutating func answered(at now: Instant) -> Bool {
        lastAnswer = now
        listeningSince = now
        askedAt = nil
        nextRepetition = nil
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
            askedAt = askedAt ?? now
            repetitionsLeft = Self.repetitions
            nextRepetition = now + Self.repetitionInterval
            return .check
        }
        if let repetition = nextRepetition, now >= repetition {
            repetitionsLeft -= 1
            nextRepetition = repetitionsLeft > 0 ? now + Self.repetitionInterval : nil
            return .repetition
        }
        return .nothing
    }

    var deadline: Instant {
        var earliest = lastAnswer + Self.expiry
        if let disconnection { earliest = min(earliest, disconnection) }
        if let nextCheck { earliest = min(earliest, nextCheck) }
        if let nextRepetition { earliest = min(earliest, nextRepetition) }
        return earliest
    }

    /// When the silence will count as a disconnection. A full peer asks a lite agent only every 4 to 6 s, which is no measure.
    private var disconnection: Instant? {
        if isDisconnected || nextCheck == nil { return nil }
        let silent = listeningSince + Self.silence
        return askedAt.map { max(silent, $0 + Self.answerLimit) } ?? silent
    }

    private static func interval(_ entropy: inout Entropy) -> Duration {
        .nanoseconds(
            Int64.random(in: shortestInterval.wholeNanoseconds...longestInterval.wholeNanoseconds, using: &entropy))
    }
}
