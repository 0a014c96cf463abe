/// What goes through `Reach`: datagrams of relays, servers' answers, and paths that are made of others.
extension VoiceEngine {
    /// Whether the description gains by waiting a moment longer for the servers.
    func isGathering(at now: Instant) -> Bool { reach.isGathering(at: now) }

    var reachDeadline: Deadline? { reach.deadline.map { Deadline(at: $0, reason: .reach) } }

    /// A datagram as a socket gave it: it is a server's, or a relay's with another in it, or the other side's own.
    mutating func receiveCarried<Sink: EngineSink & ~Copyable>(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int, from route: Route, at now: Instant, into sink: inout Sink
    ) {
        guard Reach.isSocket(route.path) else {
            return receiveStream(buffer, count: count, from: route.path, at: now, into: &sink)
        }
        switch reach.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]), from: route, at: now) {
        case .no:
            receive(buffer, count: count, from: route, at: now, into: &sink)
        case .nothing:
            break
        case .datagram(let range, let route):
            receive(
                UnsafeMutableRawBufferPointer(rebasing: buffer[range]), count: range.count, from: route, at: now,
                into: &sink)
        }
    }

    /// Bytes of a connection, in which there may be several datagrams.
    private mutating func receiveStream<Sink: EngineSink & ~Copyable>(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int, from path: PathID, at now: Instant, into sink: inout Sink
    ) {
        var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(FrameReader.largest))
            rest = UnsafeRawBufferPointer(rebasing: rest[part.count...])
            reach.receive(part, onStream: path, at: now)
            while let (range, route) = reach.nextFrame(onStream: path, into: inbound.bytes, at: now) {
                receive(
                    UnsafeMutableRawBufferPointer(rebasing: inbound.bytes[range]), count: range.count, from: route,
                    at: now, into: &sink)
            }
        }
    }

    /// Sends the first `byteCount` bytes of `outgoing`.
    mutating func transmit<Sink: EngineSink & ~Copyable>(
        _ byteCount: Int, to route: Route, at now: Instant, into sink: inout Sink
    ) {
        let datagram = UnsafeRawBufferPointer(rebasing: outgoing[..<byteCount])
        if Reach.isSocket(route.path) {
            sink.send(datagram, to: route)
        } else {
            reach.send(datagram, to: route, at: now)
            drainOutbox(into: &sink)
        }
    }

    /// Takes what the reach has found and sends what it has to say.
    mutating func drainReach<Sink: EngineSink & ~Copyable>(at now: Instant, into sink: inout Sink) {
        while let event = reach.nextEvent() {
            switch event {
            case .reflexive(let path, let address):
                ice.addReflexive(path: path, address: address)
            case .opened(let path, let address, let localPreference, let kind):
                ice.addLocal(path: path, address: address, localPreference: localPreference, kind: kind, at: now)
            case .closed(let path):
                lose(path, at: now)
            case .connect(let path, let from, let to):
                sink.connect(path, from: from, to: to)
            case .disconnect(let path):
                sink.disconnect(path)
            }
        }
        ice.expectPaths(reach.expectsPaths, at: now)
        drainOutbox(into: &sink)
    }

    /// The end: relays are told that they are free.
    mutating func giveBack<Sink: EngineSink & ~Copyable>(at now: Instant, into sink: inout Sink) {
        reach.close(at: now)
        drainOutbox(into: &sink)
    }

    /// The voice goes this way from now on.
    mutating func use(_ route: Route, at now: Instant) {
        reach.use(route, isFinal: ice.isControlling, at: now)
        switch phase {
        case .connected, .disconnected: break
        case .gathering, .connecting, .closing, .ended: return
        }
        // A controlled side goes where the other one says, which so has followed already.
        guard ice.isControlling else { return }
        following.moved(at: now)
        // What answers this says where the other side sends, also where it has no media to send just now.
        channels?.probe(at: now)
    }

    /// A path is gone.
    mutating func lose(_ path: PathID, at now: Instant) {
        let wasSelected = ice.selectedRoute?.path == path
        ice.removeLocal(path: path, at: now)
        if validRoute?.path == path { validRoute = nil }
        if wasSelected, ice.selectedRoute == nil { reach.beginAnew(at: now) }
    }

    /// What a failure of ICE is called: UDP is blocked where nobody ever answered over it, no server either.
    func ending(for failure: ICEFailure) -> EngineEvent {
        var sentence = "\(failure)"
        for problem in reach.problems { sentence += " \(problem)" }
        guard failure == .noAnswer, !ice.hasHeardPeer, !reach.hasHeardServer else { return .failed(sentence) }
        return .udpBlocked(sentence)
    }

    private mutating func drainOutbox<Sink: EngineSink & ~Copyable>(into sink: inout Sink) {
        while let (range, route) = reach.outbox.next() {
            reach.outbox.withBytes(range) { sink.send($0, to: route) }
        }
    }
}
