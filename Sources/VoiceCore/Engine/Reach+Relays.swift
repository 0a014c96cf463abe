/// Relays: an allocation on a TURN server, over a socket or over a stream.
extension Reach {
    /// An allocation and the way to its server.
    struct Relay {
        /// The relayed IPv4 address, and the IPv6 one: two paths, one allocation.
        let path: PathID
        let path6: PathID
        let server: ReachServer
        /// The path that carries it.
        let carrier: PathID
        var localPreference: UInt16
        var allocation: TURNAllocation
        /// The paths that have been told of.
        var opened: [PathID] = []

        var isOpen: Bool { !opened.isEmpty }

        func isOn(_ path: PathID) -> Bool { path == self.path || path == path6 }
    }

    // Two families of two servers on a box with two networks; more only cost the servers.
    static let relayLimit = 8

    mutating func addRelay(_ server: ReachServer, over carrier: PathID, localPreference: UInt16, at now: Instant) {
        guard relays.count < Self.relayLimit, !relays.contains(where: { $0.carrier == carrier && $0.server == server })
        else { return }
        relays.append(
            Relay(
                path: nextOwnPath(), path6: nextOwnPath(), server: server, carrier: carrier,
                localPreference: localPreference,
                allocation: TURNAllocation(
                    username: server.username, password: server.password, isReliable: !Self.isSocket(carrier),
                    entropy: entropy, at: now)))
        flush(relays.count - 1, at: now)
    }

    mutating func receive(_ message: UnsafeRawBufferPointer, onRelay index: Int, at now: Instant) -> Carried {
        let (path, path6) = (relays[index].path, relays[index].path6)
        defer {
            settle(index, at: now)
            forgetEnded()
        }
        switch relays[index].allocation.receive(message, at: now) {
        case .control:
            return .nothing
        case .datagram(let inner, let peer):
            guard let start = message.baseAddress, let innerStart = inner.baseAddress else { return .nothing }
            let offset = innerStart - start
            return .datagram(offset..<offset + inner.count, Route(path: peer.ip.isIPv6 ? path6 : path, remote: peer))
        }
    }

    mutating func send(_ datagram: UnsafeRawBufferPointer, toRelayed route: Route, at now: Instant) {
        guard let index = relays.firstIndex(where: { $0.isOn(route.path) }) else { return }
        if let byteCount = relays[index].allocation.wrap(datagram, to: route.remote, into: scratch.bytes, at: now) {
            carry(byteCount, onRelay: index)
        }
        flush(index, at: now)
    }

    mutating func handleRelayTimeouts(at now: Instant) {
        for index in relays.indices {
            relays[index].allocation.handleTimeout(at: now)
            settle(index, at: now)
        }
        forgetEnded()
    }

    mutating func useRelay(_ route: Route, isFinal: Bool, at now: Instant) {
        for index in relays.indices {
            if relays[index].isOn(route.path) {
                relays[index].allocation.bindChannel(to: route.remote, at: now)
            } else if isFinal {
                relays[index].allocation.close(at: now)
            }
            settle(index, at: now)
        }
        forgetEnded()
    }

    mutating func closeRelays(at now: Instant) {
        for index in relays.indices {
            relays[index].allocation.close(at: now)
            settle(index, at: now)
        }
    }

    /// Sends `byteCount` bytes of `scratch` to the relay's server.
    private mutating func carry(_ byteCount: Int, onRelay index: Int) {
        let relay = relays[index]
        if let stream = streams.firstIndex(where: { $0.path == relay.carrier }) {
            sendBytes(byteCount, onStream: stream)
        } else {
            outbox.append(scratch.bytes, byteCount, to: Route(path: relay.carrier, remote: relay.server.address))
        }
    }

    private mutating func flush(_ index: Int, at now: Instant) {
        while let byteCount = relays[index].allocation.nextTransmit(into: scratch.bytes, at: now) {
            carry(byteCount, onRelay: index)
        }
    }

    /// Takes the allocation's events and sends what it has to say.
    private mutating func settle(_ index: Int, at now: Instant) {
        while let event = relays[index].allocation.nextEvent() {
            let relay = relays[index]
            switch event {
            case .allocated(let relayed, let mapped):
                if let mapped, Self.isSocket(relay.carrier) { events.append(.reflexive(relay.carrier, mapped)) }
                for address in relayed {
                    let path = address.ip.isIPv6 ? relay.path6 : relay.path
                    relays[index].opened.append(path)
                    events.append(
                        .opened(
                            path, address: address, localPreference: relay.localPreference,
                            Self.isSocket(relay.carrier) ? .relay : .streamedRelay))
                }
                hurry(at: now)
            case .failed(let failure):
                note("The relay \(relay.server.host) cannot be used: \(failure).")
            }
        }
        flush(index, at: now)
    }

    private mutating func forgetEnded() {
        for relay in relays where relay.allocation.phase == .ended {
            for path in relay.opened { events.append(.closed(path)) }
            if !Self.isSocket(relay.carrier) { drop(relay.carrier) }
        }
        relays.removeAll { $0.allocation.phase == .ended }
    }
}
