/// Connections: to passive candidates of the other side (RFC 6544) and to TURN servers, straight or through an HTTP proxy, with TLS or not.
extension Reach {
    /// One connection and all that is spoken on it below the datagrams.
    struct Stream {
        enum Purpose {
            case candidate
            case relay(ReachServer)
        }

        enum State {
            case connecting
            case askingProxy
            case securing
            case established
        }

        let path: PathID
        /// The far end as the engine knows it, whatever proxy stands before it.
        let remote: SocketAddress
        let purpose: Purpose
        let localPreference: UInt16
        /// By when it must be open.
        let deadline: Instant
        var local: SocketAddress?
        var state = State.connecting
        var proxy: ProxyHandshake?
        var tls: TLSClient?
        var reader: FrameReader

        /// For sentences: a provider's own address is not told.
        var name: String {
            switch purpose {
            case .candidate: "the provider by TCP"
            case .relay(let server): "the relay \(server.host)"
            }
        }
    }

    // Three hosts of a provider from two networks; the rest would only be in line.
    private static let candidateStreamLimit = 6
    private static let relayStreamLimit = 4
    // No source: a connection that takes longer comes too late for whoever waits at the button.
    private static let openingLimit: Duration = .seconds(8)

    // MARK: Opening

    mutating func openCandidateStreams(at now: Instant) {
        for remote in passive {
            for socket in sockets where socket.address.canPair(with: remote) || proxy != nil {
                openStream(to: remote, from: socket, .candidate, limit: Self.candidateStreamLimit, at: now)
            }
        }
    }

    mutating func openRelayStreams(at now: Instant) {
        for server in servers where server.service == .relay && server.transport != .udp {
            for socket in sockets where socket.address.canPair(with: server.address) || proxy != nil {
                openStream(to: server.address, from: socket, .relay(server), limit: Self.relayStreamLimit, at: now)
            }
        }
    }

    private mutating func openStream(
        to remote: SocketAddress, from socket: Socket, _ purpose: Stream.Purpose, limit: Int, at now: Instant
    ) {
        let target = proxy?.address ?? remote
        guard socket.address.canPair(with: target) || target.ip.isLoopback else { return }
        let same = streams.filter { $0.isCandidate == purpose.isCandidate }
        guard same.count < limit,
            !same.contains(where: { $0.remote == remote && $0.localPreference == socket.localPreference })
        else { return }
        var stream = Stream(
            path: nextOwnPath(), remote: remote, purpose: purpose, localPreference: socket.localPreference,
            deadline: now + Self.openingLimit, reader: FrameReader(purpose.isCandidate ? .lengthBefore : .turn))
        if let proxy {
            var host = "\(remote.ip)"
            if case .relay(let server) = purpose { host = server.host }
            stream.proxy = ProxyHandshake(host: host, port: remote.port, credential: proxy.credential)
        }
        streams.append(stream)
        // A proxy on this machine is reached from its loopback address, whatever the network.
        let from: IPAddress = target.ip.isLoopback ? target.ip : socket.address.ip
        events.append(.connect(stream.path, from: from, to: target))
    }

    mutating func connected(_ path: PathID, _ address: SocketAddress, at now: Instant) {
        guard let index = streams.firstIndex(where: { $0.path == path }) else { return }
        streams[index].local = address
        if let proxy = streams[index].proxy {
            streams[index].state = .askingProxy
            proxy.request.withUnsafeBytes { bytes in
                scratch.bytes.copyMemory(from: bytes)
                sendRaw(bytes.count, onStream: index)
            }
        } else {
            secure(index, at: now)
        }
    }

    /// TLS, where it is wanted; else the stream is open.
    private mutating func secure(_ index: Int, at now: Instant) {
        guard case .relay(let server) = streams[index].purpose, server.transport == .tls else {
            return finishOpening(index, at: now)
        }
        do {
            streams[index].tls = try TLSClient(host: server.host)
            streams[index].state = .securing
            flushTLS(index)
        } catch {
            fail(index, "\(error)")
        }
    }

    private mutating func finishOpening(_ index: Int, at now: Instant) {
        streams[index].state = .established
        let stream = streams[index]
        switch stream.purpose {
        case .candidate:
            guard let local = stream.local else { return }
            // Behind a proxy of another family the pair is still of the remote's own.
            let address = local.ip.isIPv6 == stream.remote.ip.isIPv6 ? local : stream.remote
            events.append(
                .opened(
                    stream.path, address: address, localPreference: stream.localPreference, .stream(to: stream.remote)))
        case .relay(let server):
            addRelay(server, over: stream.path, localPreference: stream.localPreference, at: now)
        }
    }

    mutating func handleStreamTimeouts(at now: Instant) {
        for stream in streams where stream.state != .established && now >= stream.deadline {
            if let index = streams.firstIndex(where: { $0.path == stream.path }) { fail(index, "it takes too long") }
        }
    }

    private mutating func fail(_ index: Int, _ why: String) {
        let stream = streams[index]
        note("The connection to \(stream.name) cannot be used: \(why).")
        drop(stream.path)
    }

    /// Ends the connection, and whatever was on it.
    mutating func drop(_ path: PathID) {
        guard let stream = streams.first(where: { $0.path == path }) else { return }
        streams.removeAll { $0.path == path }
        events.append(.disconnect(path))
        if case .candidate = stream.purpose, stream.state == .established { events.append(.closed(path)) }
        for relay in relays where relay.carrier == path {
            for path in relay.opened { events.append(.closed(path)) }
        }
        relays.removeAll { $0.carrier == path }
    }

    // MARK: Bytes

    /// Bytes of a connection. Take the datagrams out with `nextFrame` before giving more.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, onStream path: PathID, at now: Instant) {
        var bytes = bytes
        if let index = streams.firstIndex(where: { $0.path == path }), streams[index].state == .askingProxy {
            switch streams[index].proxy?.receive(bytes) {
            case .waiting, nil: return
            case .refused(let refusal): return fail(index, "\(refusal)")
            case .established(let rest):
                bytes = UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - rest)...])
                secure(index, at: now)
            }
        }
        guard let index = streams.firstIndex(where: { $0.path == path }) else { return }
        guard let tls = streams[index].tls else { return streams[index].reader.add(bytes) }
        tls.receive(bytes)
        flushTLS(index)
        if streams[index].state == .securing, tls.phase == .established { finishOpening(index, at: now) }
        if case .failed(let failure) = tls.phase { fail(index, "\(failure)") }
    }

    /// The next datagram that came on the connection, written into `buffer`: where it is and whose.
    mutating func nextFrame(
        onStream path: PathID, into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> (Range<Int>, Route)? {
        while let index = streams.firstIndex(where: { $0.path == path }) {
            do {
                guard let byteCount = try streams[index].reader.next(into: buffer) else {
                    guard decrypt(index) else { return nil }
                    continue
                }
                guard let relay = relays.firstIndex(where: { $0.carrier == path }) else {
                    guard streams[index].isCandidate else { continue }
                    return (0..<byteCount, Route(path: path, remote: streams[index].remote))
                }
                let message = UnsafeRawBufferPointer(rebasing: buffer[..<byteCount])
                if case .datagram(let range, let route) = receive(message, onRelay: relay, at: now) {
                    return (range, route)
                }
            } catch {
                fail(index, "it sends what is no datagram")
            }
        }
        return nil
    }

    /// - Returns: whether more bytes were decrypted for the reader.
    private mutating func decrypt(_ index: Int) -> Bool {
        guard let tls = streams[index].tls else { return false }
        let part = UnsafeMutableRawBufferPointer(rebasing: scratch.bytes[..<FrameReader.largest])
        if let byteCount = tls.read(into: part) {
            streams[index].reader.add(UnsafeRawBufferPointer(rebasing: part[..<byteCount]))
            return true
        }
        if tls.phase == .closed { drop(streams[index].path) }
        return false
    }

    /// Sends a datagram with its length before it (RFC 4571 2).
    mutating func sendFramed(_ datagram: UnsafeRawBufferPointer, onStream index: Int) {
        var writer = ByteWriter(scratch.bytes)
        writer.uint16(UInt16(truncatingIfNeeded: datagram.count))
        writer.bytes(datagram)
        if let byteCount = writer.finish() { sendBytes(byteCount, onStream: index) }
    }

    /// Sends `byteCount` bytes of `scratch`, encrypted where that is wanted.
    mutating func sendBytes(_ byteCount: Int, onStream index: Int) {
        guard let tls = streams[index].tls else { return sendRaw(byteCount, onStream: index) }
        tls.write(UnsafeRawBufferPointer(rebasing: scratch.bytes[..<byteCount]))
        flushTLS(index)
    }

    private mutating func flushTLS(_ index: Int) {
        while let byteCount = streams[index].tls?.nextOutgoing(into: scratch.bytes) {
            sendRaw(byteCount, onStream: index)
        }
    }

    private mutating func sendRaw(_ byteCount: Int, onStream index: Int) {
        outbox.append(scratch.bytes, byteCount, to: Route(path: streams[index].path, remote: streams[index].remote))
    }
}

extension Reach.Stream {
    var isCandidate: Bool { purpose.isCandidate }
}

extension Reach.Stream.Purpose {
    fileprivate var isCandidate: Bool {
        switch self {
        case .candidate: true
        case .relay: false
        }
    }
}
