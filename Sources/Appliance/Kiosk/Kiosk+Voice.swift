import VoiceCore

/// What becomes of the voice, and what time does.
extension Kiosk {
    mutating func opened(in voice: PBVoiceState, at now: Instant) -> [KioskEffect] {
        switch state {
        case .connecting(let gate, let until):
            state = .talking(gate, .connecting(until: min(until, now + Self.pathLimit)))
            return follow(voice, at: now)
        // Whoever gave `connect` up hears `refused`, even where a voice came of it.
        case .idle, .talking, .closing, .fault, .ended: return []
        }
    }

    mutating func refused(_ fault: Fault, at now: Instant) -> [KioskEffect] {
        switch state {
        case .connecting: return go(on: .fault(fault), at: now)
        case .closing(_, let afterwards): return go(on: afterwards, at: now)
        case .idle, .talking, .fault, .ended: return []
        }
    }

    mutating func follow(_ voice: PBVoiceState, at now: Instant) -> [KioskEffect] {
        switch state {
        case .talking(let gate, let link):
            switch voice {
            case .new, .connecting: return []
            case .connected:
                switch link {
                case .connecting: state = .talking(gate.connected(at: now), .connected)
                case .disconnected: state = .talking(gate, .connected)
                case .connected: break
                }
                return []
            case .disconnected:
                if link == .connected { state = .talking(gate, .disconnected(inUse: isInUse(gate, at: now))) }
                return []
            case .failed:
                return link.wasUp && (link.wasInUse || isInUse(gate, at: now))
                    ? renew(.lost, at: now) : close(.lost, then: .fault(trouble ?? .unreachable), at: now)
            case .closed:
                state = .idle
                return [.close(.ended)]
            }
        case .closing(_, let afterwards): return voice == .closed ? go(on: afterwards, at: now) : []
        // While `connect` is under way its outcome says it all.
        case .idle, .connecting, .fault, .ended: return []
        }
    }

    mutating func wake(at now: Instant) -> [KioskEffect] {
        guard let deadline, deadline <= now else { return [] }
        switch state {
        case .connecting(let gate, let until):
            if until <= now { return cancelConnect(then: .fault(.unreachable), at: now) }
            state = .connecting(gate.woken(settings, at: now), until: until)
            return []
        case .talking(let gate, .connecting(let until)):
            if until <= now { return close(.neverConnected, then: .fault(.unreachable), at: now) }
            state = .talking(gate.woken(settings, at: now), .connecting(until: until))
            return []
        case .talking(let gate, let link):
            if let idleEnd = gate.idleEnd(settings), idleEnd <= now { return close(.idle, then: .idle, at: now) }
            if let renewal, renewal <= now { return renew(.expired, at: now) }
            state = .talking(gate.woken(settings, at: now), link)
            return []
        case .closing(_, let afterwards): return go(on: afterwards, at: now)
        case .fault:
            state = .idle
            return []
        case .idle, .ended: return []
        }
    }
}
