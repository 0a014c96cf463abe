/// When the engine wants to be called, and what it does then.
extension VoiceEngine {
    /// When `handle(.timeout)` is wanted, and what for.
    var deadline: Deadline? {
        switch phase {
        case .ended: nil
        case .closing(_, let next): Deadline(at: next, reason: .closing)
        case .gathering: .earliest(ice.deadline, reachDeadline)
        case .connecting, .connected, .disconnected:
            .earliest(
                .earliest(.earliest(ice.deadline, reachDeadline), .earliest(dtlsDeadline, channelDeadline)),
                .earliest(
                    .earliest(turnDeadline, followingDeadline),
                    media.reportDeadline.map { Deadline(at: $0, reason: .rtcpReport) }))
        }
    }

    private var dtlsDeadline: Deadline? {
        switch dtls {
        case .some(let dtls): dtls.deadline.map { Deadline(at: $0, reason: .dtlsRetransmission) }
        case .none: nil
        }
    }

    private var followingDeadline: Deadline? { following.deadline.map { Deadline(at: $0, reason: .reach) } }

    mutating func handleTimeout<Sink: EngineSink & ~Copyable>(at now: Instant, into sink: inout Sink) {
        if case .closing(let remaining, let next) = phase {
            if next <= now { sayFarewell(remaining: remaining, at: now, into: &sink) }
            return
        }
        if let deadline = ice.deadline, deadline.at <= now { ice.handleTimeout(at: now) }
        if let deadline = following.deadline, deadline <= now {
            return finish(telling: ending(for: .notFollowed), at: now, into: &sink)
        }
        if let deadline = reach.deadline, deadline <= now { reach.handleTimeout(at: now) }
        if let deadline = dtls?.deadline, deadline <= now { dtls?.handleTimeout(at: now) }
        if let deadline = channels?.deadline, deadline <= now { channels?.handleTimeout(at: now) }
        if let messages = dialogue?.turns.handleTimeout(at: now) { say(messages, into: &sink) }
        // Made even where it cannot go: the next is planned by it, and a deadline that stays in the past would let nobody rest.
        if let deadline = media.reportDeadline, deadline <= now, let byteCount = media.report(into: outgoing, at: now),
            let route = ice.selectedRoute
        {
            transmit(byteCount, to: route, at: now, into: &sink)
        }
    }
}
