import VoiceCore

/// Decides whether systemd's watchdog is fed: only while every thread of ours really turns. Pure.
///
/// Asked by the control loop at each `tick`, so that a control loop that stands still feeds nothing either. What the network, the
/// backend or the sound card do is of no interest here: their state neither feeds nor starves it.
struct Watchdog: Sendable {
    enum Verdict: Equatable, Sendable {
        /// All turn.
        case feed
        /// These threads stand still: what systemd is not told, it acts upon.
        case starve(stuck: [String])
    }

    /// How often to ask.
    let tick: Duration
    /// A thread that did not turn for this long is stuck: half of what systemd waits, so that its name is in the journal before
    /// systemd acts.
    let limit: Duration
    private var lastCheck: Instant?

    /// - Parameter period: after which time without a word systemd ends the service (WatchdogSec=).
    init(period: Duration) {
        tick = period / 4
        limit = period / 2
    }

    mutating func check(_ threads: [VoiceThread], at now: Instant) -> Verdict {
        // If we ourselves come late, the whole process stood still (stopped, or a machine without a free moment): the threads
        // get that time too.
        let late = lastCheck.map { max(.zero, (now - $0) - tick) } ?? .zero
        lastCheck = now
        let stuck = threads.filter { (now - $0.lastTurn) - late > limit }.map(\.name)
        return stuck.isEmpty ? .feed : .starve(stuck: stuck)
    }
}
