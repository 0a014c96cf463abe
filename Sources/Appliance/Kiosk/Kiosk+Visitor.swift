import VoiceCore

/// What the visitor does, and what is said.
extension Kiosk {
    mutating func press(at now: Instant) -> [KioskEffect] {
        let opened = Gate.pressed(settings.mode, at: now)
        switch state {
        case .idle, .fault: return connect(opened, at: now)
        case .connecting(let gate, let until):
            switch gate {
            case .latched: return cancelConnect(then: .idle, at: now)
            case .tail, .shut: state = .connecting(opened, until: until)
            case .held: break
            }
        case .talking(let gate, let link):
            switch gate {
            case .latched: return close(.pressed, then: .idle, at: now)
            case .tail, .shut:
                state = .talking(opened, link)
                return [.silence]
            case .held: break
            }
        case .closing(let until, .connect(let gate)):
            switch gate {
            case .latched: state = .closing(until: until, then: .idle)
            case .tail, .shut: state = .closing(until: until, then: .connect(opened))
            case .held: break
            }
        case .closing(let until, .idle), .closing(let until, .fault):
            state = .closing(until: until, then: .connect(opened))
        case .closing(_, .end), .ended: break
        }
        return []
    }

    mutating func release(at now: Instant) -> [KioskEffect] {
        let settings = settings
        return change { $0.released(settings, at: now) }
    }

    /// Changes the gate, where there is one.
    mutating func change(_ gate: (Gate) -> Gate) -> [KioskEffect] {
        switch state {
        case .connecting(let old, let until): state = .connecting(gate(old), until: until)
        case .talking(let old, let link): state = .talking(gate(old), link)
        case .closing(let until, .connect(let old)): state = .closing(until: until, then: .connect(gate(old)))
        case .idle, .closing, .fault, .ended: break
        }
        return []
    }

    mutating func quit(at now: Instant) -> [KioskEffect] {
        switch state {
        case .idle, .fault, .closing(_, .end):
            state = .ended
            return []
        case .connecting: return cancelConnect(then: .end, at: now)
        case .talking: return close(.quit, then: .end, at: now)
        case .closing(let until, .idle), .closing(let until, .fault), .closing(let until, .connect):
            state = .closing(until: until, then: .end)
            return []
        case .ended: return []
        }
    }
}
