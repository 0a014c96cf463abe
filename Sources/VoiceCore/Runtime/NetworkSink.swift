internal import CLinux
internal import Glibc

/// Where the engine's effects go: sockets, connections, the speaker's queue, the event queue.
struct NetworkSink: EngineSink, ~Copyable {
    private let runtime: VoiceRuntime
    var sockets: [(path: PathID, socket: UDPSocket)] = []
    private(set) var connections: [(path: PathID, connection: TCPConnection, isWatchedForWriting: Bool)] = []
    /// Connections that could not even be begun; the engine is told once it has returned.
    private(set) var refused: [PathID] = []
    /// The network thread's own, which closes it.
    private let poll: Int32

    init(_ runtime: VoiceRuntime, poll: Int32) {
        self.runtime = runtime
        self.poll = poll
    }

    func connection(_ path: PathID) -> TCPConnection? {
        for entry in connections where entry.path == path { return entry.connection }
        return nil
    }

    mutating func connect(_ path: PathID, from: IPAddress, to: SocketAddress) {
        do {
            let connection = try TCPConnection(from: from, to: to)
            var event = epoll_event(
                events: EPOLLIN.rawValue | EPOLLOUT.rawValue, data: epoll_data_t(u64: UInt64(path.rawValue)))
            try checked("epoll_ctl") { epoll_ctl(poll, EPOLL_CTL_ADD, connection.descriptor, &event) }
            connections.append((path, connection, true))
        } catch {
            refused.append(path)
        }
    }

    mutating func disconnect(_ path: PathID) {
        connections.removeAll { $0.path == path }
    }

    mutating func takeRefused() -> [PathID] {
        defer { refused.removeAll() }
        return refused
    }

    mutating func watch(_ path: PathID, forWriting: Bool) {
        guard let index = connections.firstIndex(where: { $0.path == path }) else { return }
        connections[index].isWatchedForWriting = forWriting
        var event = epoll_event(
            events: EPOLLIN.rawValue | (forWriting ? EPOLLOUT.rawValue : 0),
            data: epoll_data_t(u64: UInt64(path.rawValue)))
        epoll_ctl(poll, EPOLL_CTL_MOD, connections[index].connection.descriptor, &event)
    }

    func socket(_ path: PathID) -> UDPSocket? {
        for entry in sockets where entry.path == path { return entry.socket }
        return nil
    }

    mutating func remove(_ path: PathID) {
        sockets.removeAll { $0.path == path }
    }

    mutating func send(_ datagram: UnsafeRawBufferPointer, to route: Route) {
        if let socket = socket(route.path) {
            _ = socket.send(datagram, to: route.remote)
        } else {
            connection(route.path)?.send(datagram)
        }
    }

    mutating func play(_ payload: UnsafeRawBufferPointer, _ header: RTPHeader, arrivedAt: Instant) {
        runtime.speaker.push(
            SpeakerPacket(
                sequenceNumber: header.sequenceNumber, timestamp: header.timestamp, ssrc: header.ssrc,
                arrivedAt: arrivedAt), payload)
    }

    mutating func report(_ event: EngineEvent) {
        switch event {
        case .connected:
            runtime.isLive.store(true, ordering: .releasing)
            runtime.events.push(.state(.connected))
        case .disconnected:
            runtime.events.push(.state(.disconnected))
        case .failed(let reason):
            runtime.isLive.store(false, ordering: .releasing)
            runtime.events.push(.error(PBVoiceError(.unreachable, reason)))
            runtime.events.push(.state(.failed))
        case .udpBlocked(let reason):
            runtime.isLive.store(false, ordering: .releasing)
            runtime.events.push(.error(PBVoiceError(.udpBlocked, reason)))
            runtime.events.push(.state(.failed))
        case .closedByPeer:
            runtime.isLive.store(false, ordering: .releasing)
            runtime.events.push(.state(.closed))
        case .provider(let message): tell(message)
        case .channelOpened(let label): runtime.events.push(.channelOpened(label: label))
        case .channelClosed(let label): runtime.events.push(.channelClosed(label: label))
        case .message(let label, let isText, let bytes):
            runtime.events.push(.message(label: label, isText: isText, bytes: bytes))
        case .messageRefused(let label, let error):
            runtime.events.push(.messageRefused(label: label, reason: "\(error)"))
        case .senderReport(let quality):
            let before = LossReport(bits: runtime.lossReport.load(ordering: .relaxed))
            runtime.lossReport.store(before.followed(by: quality.fractionLost).bits, ordering: .relaxed)
        }
    }
}

extension NetworkSink {
    /// The provider's word goes to the face; what it takes back is not played.
    private func tell(_ message: ProviderMessage) {
        switch message {
        case .event(let event):
            if event == .outputCleared { runtime.isFlushWanted.store(true, ordering: .releasing) }
            runtime.events.push(.event(event))
        case .error(let error):
            runtime.events.push(
                .error(PBVoiceError(.providerError, "The provider says: \(error.message) (\(error.code))")))
        case .sessionEnded(let isExpiry): runtime.events.push(.event(.sessionOver(isExpiry: isExpiry)))
        case .unreadable: break
        }
    }
}
