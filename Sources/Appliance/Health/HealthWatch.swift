import Hardware
import VoiceCore

/// Watches over the process and its site: feeds systemd's watchdog while all threads turn, and keeps the status line and the journal
/// true. Lives on the main actor.
///
/// The control loop calls `turn` each `period`, from within its own queue of events: a loop that stands still feeds nothing. It decides
/// nothing: whether to feed is the `Watchdog`'s, what to say is the `Health`'s.
@MainActor
final class HealthWatch {
    /// Looks at a part without waiting for it: a sentence that says what is wrong, where, and the cure; nil: all is well.
    typealias Look = @MainActor () -> String?

    /// How often to call `turn`.
    let period: Duration

    private let looks: [(part: Health.Part, look: Look)]
    private let threads: @MainActor () -> [VoiceThread]
    private let send: @MainActor (ServiceMessage) -> Void
    private let log: Log
    private var watchdog: Watchdog?
    private var health = Health()
    private var activity = ""
    private var statusSent = ""
    private var stuck: [String] = []

    /// How often the site is looked at where no watchdog asks for more.
    private static let longestPeriod: Duration = .seconds(3)

    /// - Parameters:
    ///   - watchdogPeriod: what systemd waits for a sign of life; nil: it does not.
    ///   - threads: those that must turn, and when they last did.
    init(
        looks: [(part: Health.Part, look: Look)], watchdogPeriod: Duration?,
        threads: @escaping @MainActor () -> [VoiceThread], send: @escaping @MainActor (ServiceMessage) -> Void, log: Log
    ) {
        self.looks = looks
        self.threads = threads
        self.send = send
        self.log = log
        watchdog = watchdogPeriod.map(Watchdog.init)
        period = min(watchdog?.tick ?? Self.longestPeriod, Self.longestPeriod)
    }

    /// A press gets an answer from now on, if only a fault's.
    func ready(at now: Instant) {
        send(.ready)
        turn(at: now)
    }

    func stopping() {
        send(.stopping)
    }

    /// What the kiosk does now, in plain words.
    func show(_ activity: String) {
        self.activity = activity
        sendStatus()
    }

    /// Looks at threads and site once.
    func turn(at now: Instant) {
        watchThreads(at: now)
        look()
    }

    /// Looks at the site alone: something in it has just changed.
    func look() {
        for (part, look) in looks {
            switch health.see(part, look()) {
            case .fault(let sentence): log.warning(sentence)
            case .healed(let part): log.info(part.healedSentence)
            case nil: break
            }
        }
        sendStatus()
    }

    private func watchThreads(at now: Instant) {
        guard let verdict = watchdog?.check(threads(), at: now) else { return }
        switch verdict {
        case .feed:
            if !stuck.isEmpty { log.warning("All threads turn again.") }
            stuck = []
            send(.alive)
        case .starve(let names):
            if names != stuck {
                log.error(
                    "Stuck: \(names.joined(separator: ", ")). systemd is not told that all is well and will start anew."
                )
            }
            stuck = names
        }
    }

    private func sendStatus() {
        let status = health.status(stuck.isEmpty ? activity : "Stuck: \(stuck.joined(separator: ", ")).")
        guard status != statusSent else { return }
        statusSent = status
        send(.status(status))
    }
}
