import VoiceCore

extension Kiosk {
    /// The microphone's gate, as the button wants it.
    enum Gate: Equatable, Sendable {
        /// Open: the button is held.
        case held(OpenTime)
        /// Open: the button was let go of a moment ago.
        case tail(until: Instant)
        /// Open without a hand on the button; nobody said anything since `quietSince`.
        case latched(OpenTime, quietSince: Instant)
        /// Shut; nobody said anything since then.
        case shut(since: Instant)
    }

    /// How long the gate is open at a stretch: what the transmit limit counts.
    struct OpenTime: Equatable, Sendable {
        /// Since the press, or since the provider was last heard where the conversation goes both ways.
        var since: Instant
        /// Whether the limit was announced.
        var isWarned = false
    }

    /// A press that is shorter than this is a tap.
    static let tapLimit: Duration = .milliseconds(400)
    /// How long before the transmit limit the tone warns.
    static let warningTime: Duration = .seconds(5)
}

extension Kiosk.Gate {
    typealias Gate = Kiosk.Gate

    var isOpen: Bool {
        switch self {
        case .held, .tail, .latched: true
        case .shut: false
        }
    }

    /// Whether the next press is to shut it and end the voice.
    var isLatched: Bool {
        switch self {
        case .latched: true
        case .held, .tail, .shut: false
        }
    }

    /// The gate that a press opens.
    static func pressed(_ mode: TalkMode, at now: Instant) -> Gate {
        let time = Kiosk.OpenTime(since: now)
        switch mode {
        case .auto, .hold: return .held(time)
        case .toggle, .handsFree: return .latched(time, quietSince: now)
        }
    }

    /// The gate after the release.
    func released(_ settings: Configuration.Talk, at now: Instant) -> Gate {
        switch self {
        case .held(let time):
            if settings.mode == .auto, now - time.since < Kiosk.tapLimit { return .latched(time, quietSince: now) }
            return settings.releaseTail > .zero ? .tail(until: now + settings.releaseTail) : .shut(since: now)
        case .tail, .latched, .shut: return self
        }
    }

    /// The provider was heard.
    func heard(at now: Instant) -> Gate {
        switch self {
        case .held, .tail: self
        case .latched: .latched(Kiosk.OpenTime(since: now), quietSince: now)
        case .shut: .shut(since: now)
        }
    }

    /// The visitor was heard.
    func spoken(at now: Instant) -> Gate {
        switch self {
        case .latched(let time, _): .latched(time, quietSince: now)
        case .held, .tail, .shut: self
        }
    }

    /// The gate of a voice that has just been connected: the idle end counts from when there was somebody to talk to.
    func connected(at now: Instant) -> Gate {
        switch self {
        case .latched(let time, _): .latched(time, quietSince: now)
        case .shut: .shut(since: now)
        case .held, .tail: self
        }
    }

    // MARK: Time

    /// When it changes by itself, or the limit is to be announced; the idle end is not among it.
    func deadline(_ settings: Configuration.Talk) -> Instant? {
        switch self {
        case .held(let time): time.deadline(settings)
        case .latched(let time, _): settings.mode == .handsFree ? nil : time.deadline(settings)
        case .tail(let until): until
        case .shut: nil
        }
    }

    /// When the voice is to be closed because nobody says anything.
    func idleEnd(_ settings: Configuration.Talk) -> Instant? {
        switch self {
        case .latched(_, let since), .shut(let since): since + settings.idleEnd
        case .held, .tail: nil
        }
    }

    /// The gate once what was due by `now` has happened.
    func woken(_ settings: Configuration.Talk, at now: Instant) -> Gate {
        guard let deadline = deadline(settings), deadline <= now else { return self }
        switch self {
        case .held(let time): return time.isWarned ? .shut(since: now) : .held(time.warned)
        case .latched(let time, let since):
            return time.isWarned ? .shut(since: now) : .latched(time.warned, quietSince: since)
        case .tail: return .shut(since: now)
        case .shut: return self
        }
    }

    /// Whether the limit was announced.
    var isWarned: Bool {
        switch self {
        case .held(let time), .latched(let time, _): time.isWarned
        case .tail, .shut: false
        }
    }
}

extension Kiosk.OpenTime {
    fileprivate func deadline(_ settings: Configuration.Talk) -> Instant {
        let limit = since + settings.transmitLimit
        return isWarned ? limit : limit - Kiosk.warningTime
    }

    fileprivate var warned: Kiosk.OpenTime { Kiosk.OpenTime(since: since, isWarned: true) }
}
