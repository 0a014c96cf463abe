import VoiceCore

/// The state machine that joins button, LED, tones, microphone gate and voice. Pure: an event and its time in, effects out.
///
/// Owned by `KioskService` on the main actor. It never reads a clock, holds no handle and forgets nothing: whoever runs it does
/// each effect in order and hands back what comes of it. A press opens a voice if none is open and opens the microphone; what
/// shuts it again is the mode's to say (`Gate`), and the voice waits for the next press until the idle end. What the visitor does
/// is in `Kiosk+Visitor`, what becomes of the voice in `Kiosk+Voice`.
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
        case fault(Fault, until: Instant)
        /// Nothing happens any more.
        case ended
    }

    /// The open voice's connection.
    enum Link: Equatable, Sendable {
        /// Not up yet; given up if it is not by then.
        case connecting(until: Instant)
        case connected
        /// Nothing comes back; it may recover by itself. Whether somebody was in the middle of a conversation then.
        case disconnected(inUse: Bool)
    }

    /// What follows once the voice is closed.
    enum Afterwards: Equatable, Sendable {
        case idle
        case fault(Fault)
        /// The next voice: the button was pressed meanwhile.
        case connect(Gate)
        case end
    }

    /// What is known of a sound device of the latest voice.
    enum Device: Equatable, Sendable {
        /// It has neither worked nor failed yet.
        case awaited
        case working
        /// It cannot be had, or no longer.
        case lost
    }

    /// A voice that is not there this long after the press is given up: the bound that RFC 7675 5.1 sets on sending to somebody who
    /// does not answer.
    static let connectLimit: Duration = .seconds(30)
    /// A voice that is there and not connected this long after is given up: the visitor still stands at the button. One of whose far end
    /// nothing at all is heard has ended by itself before (`ICEAgent.silenceLimit`); the rest is for handshakes on bad wireless.
    static let pathLimit: Duration = .seconds(15)
    /// How long a voice's own close is waited for; a stalled sound device may hold it up for a second.
    static let closeLimit: Duration = .seconds(2)
    /// How long a fault is shown: long enough to count the flicks of any of them twice.
    static let faultShown: Duration = .seconds(15)

    /// Changed by the machine's own files alone.
    var state: State
    /// Changed by the machine's own files alone.
    var microphone: Device
    /// Changed by the machine's own files alone.
    var speaker = Device.awaited
    /// Until when the latest voice's session lasts; nil: nobody said. Changed by the machine's own files alone.
    var expiry: Instant?
    /// When somebody was last heard in the latest voice. Changed by the machine's own files alone.
    var lastSound: Instant?
    /// What the latest voice's connection suffers from, where it was said. Changed by the machine's own files alone.
    var trouble: Fault?
    /// The number of the latest voice asked for; news of earlier ones are of no interest.
    private(set) var call: Int
    let settings: Configuration.Talk

    init(
        _ settings: Configuration.Talk, state: State = .idle, call: Int = 0, microphone: Device = .awaited
    ) {
        self.settings = settings
        self.state = state
        self.call = call
        self.microphone = microphone
    }

    /// Takes what happened and returns what is to be done about it, in order.
    mutating func handle(_ event: KioskEvent, at now: Instant) -> [KioskEffect] {
        let before = self
        var effects = react(to: event, at: now)
        // `connect` says itself how its voice begins.
        if let gate, let gateBefore = before.gate, call == before.call, gate.isOpen != gateBefore.isOpen {
            effects.append(.mute(!gate.isOpen))
        }
        if pattern != before.pattern { effects.append(.light(pattern)) }
        if let earcon = earcon(since: before) { effects.append(.sound(earcon)) }
        if state == .ended, before.state != .ended { effects.append(.finish) }
        return effects
    }

    /// When `timer` is wanted; nil: not before something else happens.
    var deadline: Instant? {
        switch state {
        case .idle, .ended: nil
        case .connecting(let gate, let until), .talking(let gate, .connecting(let until)):
            gate.deadline(settings).map { min($0, until) } ?? until
        case .talking(let gate, .connected), .talking(let gate, .disconnected):
            [gate.deadline(settings), gate.idleEnd(settings), renewal].compactMap { $0 }.min()
        case .closing(let until, _), .fault(_, let until): until
        }
    }

    /// What the LED says now.
    var pattern: LEDPattern {
        switch state {
        case .idle, .ended, .closing(_, .idle), .closing(_, .end): .muted
        // What is said is kept already.
        case .connecting(let gate, _), .talking(let gate, .connecting): isHeard(gate) ? .open : .connecting
        // What is said is sent all the same.
        case .talking(let gate, .disconnected): LEDPattern(isHeard: isHeard(gate), notice: .connecting)
        case .closing(_, .connect): .connecting
        case .talking(let gate, .connected):
            if microphone == .lost {
                .fault(.microphoneLost)
            } else if speaker == .lost {
                LEDPattern(isHeard: isHeard(gate), notice: .fault(.speakerLost))
            } else {
                LEDPattern(isHeard: isHeard(gate), notice: gate.isOpen && !isHeard(gate) ? .connecting : nil)
            }
        case .fault(let fault, _), .closing(_, .fault(let fault)): .fault(fault)
        }
    }

    private func isHeard(_ gate: Gate) -> Bool { gate.isOpen && microphone == .working }

    /// The gate of the voice that is open or being opened.
    private var gate: Gate? {
        switch state {
        case .connecting(let gate, _), .talking(let gate, _): gate
        case .idle, .closing, .fault, .ended: nil
        }
    }

    /// What is said to the ear of what has changed; the end of the program is not.
    private func earcon(since before: Kiosk) -> Earcon? {
        switch state {
        case .ended, .closing(_, .end): return nil
        case .idle, .connecting, .talking, .closing, .fault: break
        }
        if pattern != before.pattern {
            switch pattern.notice {
            case .connecting where before.pattern.notice != .connecting || gate == nil: return .connecting
            case .fault(let fault) where before.pattern.fault != fault: return .fault(fault)
            case .connecting, .fault, nil:
                if pattern.isHeard { return .open }
                return gate == nil ? .ended : .shut
            }
        }
        if let gate, gate.isWarned, before.gate?.isWarned == false { return .limit }
        // A muted voice that ends is not seen, but heard.
        return gate == nil && before.gate != nil && pattern == .muted ? .ended : nil
    }

    private mutating func react(to event: KioskEvent, at now: Instant) -> [KioskEffect] {
        switch event {
        case .pressed: return press(at: now)
        case .released: return release(at: now)
        case .heard:
            lastSound = now
            return change { $0.heard(at: now) }
        case .spoken:
            lastSound = now
            return change { $0.spoken(at: now) }
        case .timer: return wake(at: now)
        case .quit: return quit(at: now)
        case .voice(let news, let call):
            guard call == self.call else { return [] }
            switch news {
            case .opened(let state): return opened(in: state, at: now)
            case .refused(let fault): return refused(fault, at: now)
            case .trouble(let fault): trouble = fault
            case .state(let state): return follow(state, at: now)
            case .expires(let instant): expiry = instant
            case .expired: return renew(.expired, at: now)
            case .microphone(let delivers): microphone = delivers ? .working : .lost
            case .speaker(let takes): speaker = takes ? .working : .lost
            }
            return []
        }
    }

    // MARK: Steps that several events share

    mutating func connect(_ gate: Gate, at now: Instant) -> [KioskEffect] {
        call += 1
        microphone = .awaited
        speaker = .awaited
        expiry = nil
        lastSound = nil
        trouble = nil
        state = .connecting(gate, until: now + Self.connectLimit)
        return [.connect(call: call, muted: !gate.isOpen)]
    }

    mutating func close(_ reason: CloseReason, then next: Afterwards, at now: Instant) -> [KioskEffect] {
        state = .closing(until: now + Self.closeLimit, then: next)
        return [.close(reason)]
    }

    mutating func cancelConnect(then next: Afterwards, at now: Instant) -> [KioskEffect] {
        state = .closing(until: now + Self.closeLimit, then: next)
        return [.cancelConnect]
    }

    mutating func go(on afterwards: Afterwards, at now: Instant) -> [KioskEffect] {
        switch afterwards {
        case .idle:
            state = .idle
            return []
        case .fault(let fault):
            state = .fault(fault, until: now + Self.faultShown)
            return []
        case .connect(let gate): return connect(gate, at: now)
        case .end:
            state = .ended
            return []
        }
    }
}
