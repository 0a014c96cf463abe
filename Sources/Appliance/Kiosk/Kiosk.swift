import VoiceCore

/// The state machine that joins button, LED, microphone gate and voice. Pure: an event and its time in, effects out.
///
/// Owned by `KioskService` on the main actor. It never reads a clock, holds no handle and forgets nothing: whoever runs it does
/// each effect in order and hands back what comes of it. Hold mode: a press opens a voice if none is open and opens the
/// microphone, the release shuts it after a tail, and the voice waits for the next press until the idle end.
struct Kiosk: Sendable {
    enum State: Equatable, Sendable {
        /// There is no voice.
        case idle
        /// `connect` is under way, at most until then.
        case connecting(Gate, until: Instant)
        /// There is a voice.
        case talking(Gate, Link)
        /// The voice was told to close, or its `connect` to give up; waited for at most until then.
        case closing(until: Instant, then: Afterwards)
        /// It did not work; said until then.
        case fault(until: Instant)
        /// Nothing happens any more.
        case ended
    }

    /// The microphone's gate, as the button wants it.
    enum Gate: Equatable, Sendable {
        /// Open: the button is held.
        case held
        /// Open: the button was let go of a moment ago.
        case tail(until: Instant)
        /// Shut; nobody said anything since then.
        case shut(since: Instant)

        var isOpen: Bool {
            switch self {
            case .held, .tail: true
            case .shut: false
            }
        }
    }

    /// The open voice's connection.
    enum Link: Equatable, Sendable {
        /// Not up yet; given up if it is not by then.
        case connecting(until: Instant)
        case connected
        /// Nothing comes back; it may recover by itself.
        case disconnected
    }

    /// What follows once the voice is closed.
    enum Afterwards: Equatable, Sendable {
        case idle
        case fault
        /// The next voice: the button was pressed meanwhile.
        case connect(Gate)
        case end
    }

    /// A voice that is not connected this long after the press is given up: the bound that RFC 7675 5.1 sets on sending to
    /// somebody who does not answer.
    static let connectLimit: Duration = .seconds(30)
    /// How long a voice's own close is waited for; a stalled sound device may hold it up for a second.
    static let closeLimit: Duration = .seconds(2)
    /// How long a fault is shown: long enough to be seen by someone who looks up from the button.
    static let faultShown: Duration = .seconds(3)

    private(set) var state = State.idle
    /// The number of the latest voice asked for; news of earlier ones are of no interest.
    private(set) var call = 0
    private let settings: Configuration.Talk

    init(_ settings: Configuration.Talk, state: State = .idle, call: Int = 0) {
        self.settings = settings
        self.state = state
        self.call = call
    }

    /// Takes what happened and returns what is to be done about it, in order.
    mutating func handle(_ event: KioskEvent, at now: Instant) -> [KioskEffect] {
        let wasEnded = state == .ended
        let patternBefore = pattern
        let gateBefore = openVoiceGate
        var effects = react(to: event, at: now)
        // A voice starts unmuted, so that the first word about its gate is always said.
        if let gate = openVoiceGate, gate != gateBefore { effects.append(.mute(!gate)) }
        if pattern != patternBefore { effects.append(.light(pattern)) }
        if state == .ended, !wasEnded { effects.append(.finish) }
        return effects
    }

    /// When `timer` is wanted; nil: not before something else happens.
    var deadline: Instant? {
        switch state {
        case .idle, .ended: nil
        case .connecting(let gate, let until): gate.deadline.map { min($0, until) } ?? until
        case .talking(let gate, .connecting(let until)): gate.deadline.map { min($0, until) } ?? until
        case .talking(.shut(let since), .connected), .talking(.shut(let since), .disconnected): since + settings.idleEnd
        case .talking(let gate, .connected), .talking(let gate, .disconnected): gate.deadline
        case .closing(let until, _), .fault(let until): until
        }
    }

    /// What the LED says now.
    var pattern: LEDPattern {
        switch state {
        case .idle, .ended, .closing(_, .idle), .closing(_, .end): .muted
        case .connecting, .talking(_, .connecting), .talking(_, .disconnected), .closing(_, .connect): .connecting
        case .talking(let gate, .connected): gate.isOpen ? .open : .muted
        case .fault, .closing(_, .fault): .fault
        }
    }

    /// Whether the open voice's microphone is heard; nil where no voice is open.
    private var openVoiceGate: Bool? {
        switch state {
        case .talking(let gate, _): gate.isOpen
        case .idle, .connecting, .closing, .fault, .ended: nil
        }
    }

    private mutating func react(to event: KioskEvent, at now: Instant) -> [KioskEffect] {
        switch event {
        case .pressed: return press(at: now)
        case .released: return release(at: now)
        case .heard: return hear(at: now)
        case .timer: return wake(at: now)
        case .quit: return quit(at: now)
        case .voice(let news, let call):
            guard call == self.call else { return [] }
            switch news {
            case .opened(let state): return opened(in: state, at: now)
            case .refused: return refused(at: now)
            case .state(let state): return follow(state, at: now)
            }
        }
    }

    // MARK: The visitor

    private mutating func press(at now: Instant) -> [KioskEffect] {
        switch state {
        case .idle, .fault: return connect(.held, at: now)
        case .connecting(_, let until): state = .connecting(.held, until: until)
        case .talking(_, let link): state = .talking(.held, link)
        case .closing(_, .end), .ended: break
        case .closing(let until, .idle), .closing(let until, .fault), .closing(let until, .connect):
            state = .closing(until: until, then: .connect(.held))
        }
        return []
    }

    private mutating func release(at now: Instant) -> [KioskEffect] {
        let released: Gate = settings.releaseTail > .zero ? .tail(until: now + settings.releaseTail) : .shut(since: now)
        switch state {
        case .connecting(.held, let until): state = .connecting(released, until: until)
        case .talking(.held, let link): state = .talking(released, link)
        case .closing(let until, .connect(.held)): state = .closing(until: until, then: .connect(released))
        case .idle, .connecting, .talking, .closing, .fault, .ended: break
        }
        return []
    }

    private mutating func hear(at now: Instant) -> [KioskEffect] {
        if case .talking(.shut, let link) = state { state = .talking(.shut(since: now), link) }
        return []
    }

    private mutating func quit(at now: Instant) -> [KioskEffect] {
        switch state {
        case .idle, .fault, .closing(_, .end):
            state = .ended
            return []
        case .connecting:
            state = .closing(until: now + Self.closeLimit, then: .end)
            return [.cancelConnect]
        case .talking: return close(.quit, then: .end, at: now)
        case .closing(let until, .idle), .closing(let until, .fault), .closing(let until, .connect):
            state = .closing(until: until, then: .end)
            return []
        case .ended: return []
        }
    }

    // MARK: The voice

    private mutating func opened(in voice: PBVoiceState, at now: Instant) -> [KioskEffect] {
        switch state {
        case .connecting(let gate, let until):
            state = .talking(gate, .connecting(until: until))
            return follow(voice, at: now)
        // Whoever gave `connect` up hears `refused`, even where a voice came of it.
        case .idle, .talking, .closing, .fault, .ended: return []
        }
    }

    private mutating func refused(at now: Instant) -> [KioskEffect] {
        switch state {
        case .connecting:
            state = .fault(until: now + Self.faultShown)
            return []
        case .closing(_, let afterwards): return go(on: afterwards, at: now)
        case .idle, .talking, .fault, .ended: return []
        }
    }

    private mutating func follow(_ voice: PBVoiceState, at now: Instant) -> [KioskEffect] {
        switch state {
        case .talking(let gate, let link):
            switch voice {
            case .new, .connecting: return []
            case .connected:
                state = .talking(gate, .connected)
                // The idle end counts from when there was somebody to talk to.
                if case .connecting = link, !gate.isOpen { state = .talking(.shut(since: now), .connected) }
                return []
            case .disconnected:
                if link == .connected { state = .talking(gate, .disconnected) }
                return []
            case .failed: return close(.lost, then: .fault, at: now)
            case .closed:
                state = .idle
                return [.close(.ended)]
            }
        case .closing(_, let afterwards): return voice == .closed ? go(on: afterwards, at: now) : []
        // While `connect` is under way its outcome says it all.
        case .idle, .connecting, .fault, .ended: return []
        }
    }

    // MARK: Time

    private mutating func wake(at now: Instant) -> [KioskEffect] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .connecting(let gate, let until):
            if until <= now {
                state = .closing(until: now + Self.closeLimit, then: .fault)
                return [.cancelConnect]
            }
            state = .connecting(gate.shut(at: now), until: until)
            return []
        case .talking(let gate, .connecting(let until)):
            if until <= now { return close(.neverConnected, then: .fault, at: now) }
            state = .talking(gate.shut(at: now), .connecting(until: until))
            return []
        case .talking(let gate, let link):
            if case .shut = gate { return close(.idle, then: .idle, at: now) }
            state = .talking(gate.shut(at: now), link)
            return []
        case .closing(_, let afterwards): return go(on: afterwards, at: now)
        case .fault:
            state = .idle
            return []
        case .idle, .ended: return []
        }
    }

    // MARK: Steps that several events share

    private mutating func connect(_ gate: Gate, at now: Instant) -> [KioskEffect] {
        call += 1
        state = .connecting(gate, until: now + Self.connectLimit)
        return [.connect(call: call)]
    }

    private mutating func close(_ reason: CloseReason, then next: Afterwards, at now: Instant) -> [KioskEffect] {
        state = .closing(until: now + Self.closeLimit, then: next)
        return [.close(reason)]
    }

    private mutating func go(on afterwards: Afterwards, at now: Instant) -> [KioskEffect] {
        switch afterwards {
        case .idle:
            state = .idle
            return []
        case .fault:
            state = .fault(until: now + Self.faultShown)
            return []
        case .connect(let gate): return connect(gate, at: now)
        case .end:
            state = .ended
            return []
        }
    }
}

extension Kiosk.Gate {
    /// When the tail ends.
    fileprivate var deadline: Instant? {
        switch self {
        case .tail(let until): until
        case .held, .shut: nil
        }
    }

    /// The gate once its tail, if there is one, has passed.
    fileprivate func shut(at now: Instant) -> Kiosk.Gate {
        switch self {
        case .tail: .shut(since: now)
        case .held, .shut: self
        }
    }
}
