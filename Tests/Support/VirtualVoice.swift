@testable import VoiceCore

/// One engine on a `VirtualNetwork`, with all that it said and played.
final class VirtualVoice: VirtualHost {
    struct Played: Equatable {
        var payload: [UInt8]
        var sequenceNumber: UInt16
        var timestamp: UInt32
        var at: Instant
    }

    private(set) var events: [EngineEvent] = []
    private(set) var played: [Played] = []
    /// When it became connected, the first time.
    private(set) var connectedAt: Instant?
    /// What it last asked to be woken for.
    private(set) var wakeReasons: Set<Deadline.Reason> = []
    weak var network: VirtualNetwork?
    private var engine: VoiceEngine
    private var sink = RecordingSink()
    private(set) var addresses: [SocketAddress]
    private var streams: [PathID: VirtualStream] = [:]
    private var nextStreamPort: UInt16 = 40_000
    private var nextPacketAt: Instant?
    private var packetCount: UInt32 = 0

    /// - Parameter addresses: one path each, usable from the start.
    init(
        _ side: VoiceSide, on network: VirtualNetwork, addresses: [SocketAddress], identity: DTLSIdentity, seed: UInt64,
        channel: String? = nil, turns: TurnTaking? = nil, servers: [ReachServer] = [], proxy: ReachProxy? = nil
    ) {
        self.addresses = addresses
        engine = VoiceEngine(
            side: side, identity: identity, channel: channel, turns: turns, entropy: .seeded(seed),
            unixOffset: .seconds(1_700_000_000))
        network.add(self)
        for (index, address) in addresses.enumerated() {
            handle(
                .pathOpened(
                    path(index), address: address, localPreference: UInt16.max - UInt16(index)), at: network.now)
        }
        if let proxy { handle(.proxy(proxy), at: network.now) }
        for server in servers { handle(.server(server), at: network.now) }
    }

    var phase: VoiceEngine.Phase { engine.phase }
    var hasEnded: Bool { engine.hasEnded }
    var statistics: EngineStatistics { engine.statistics }
    var isConnected: Bool { engine.phase == .connected }

    /// When it wants to be called: for its engine, or for its next packet.
    var deadline: Instant? {
        guard let packet = nextPacketAt else { return engine.deadline?.at }
        return min(packet, engine.deadline?.at ?? packet)
    }

    func offer() -> String { engine.offer() }

    /// Asks the servers and waits for them as long as the engine wants; then gives the offer.
    func gatheredOffer() -> String {
        guard let network else { return "" }
        handle(.gather(within: .seconds(10)), at: network.now)
        while engine.isGathering(at: network.now) { network.run(.milliseconds(1)) }
        return engine.offer()
    }

    func owns(_ address: SocketAddress) -> Bool { addresses.contains(address) }

    func accept(_ answer: String, at now: Instant) throws {
        defer { flush() }
        try engine.accept(answer: answer, at: now, into: &sink)
    }

    func answer(_ offer: String, at now: Instant) throws -> String {
        defer { flush() }
        return try engine.answer(offer: offer, at: now, into: &sink)
    }

    func handle(_ input: EngineInput, at now: Instant) {
        engine.handle(input, at: now, into: &sink)
        flush()
    }

    /// Speaks a numbered packet each 20 ms from now on; `false` stops.
    func speak(_ speaks: Bool, at now: Instant) {
        nextPacketAt = speaks ? now : nil
    }

    func closePath(_ index: Int, at now: Instant) {
        handle(.pathClosed(path(index)), at: now)
    }

    /// A new network came up.
    func openPath(_ address: SocketAddress, at now: Instant) {
        addresses.append(address)
        handle(
            .pathOpened(
                path(addresses.count - 1), address: address, localPreference: UInt16.max - UInt16(addresses.count)),
            at: now)
    }

    func deliver(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, at now: Instant) {
        guard let index = addresses.firstIndex(of: to) else { return }
        var buffer = bytes + [UInt8](repeating: 0, count: 200)
        buffer.withUnsafeMutableBytes {
            engine.handle(
                .datagram($0, count: bytes.count, Route(path: path(index), remote: from)), at: now, into: &sink)
        }
        flush()
    }

    func wake(at now: Instant) {
        if let deadline = engine.deadline, deadline.at <= now {
            wakeReasons.insert(deadline.reason)
            handle(.timeout, at: now)
        }
        while let at = nextPacketAt, at <= now {
            nextPacketAt = at + .milliseconds(20)
            packetCount += 1
            let payload: [UInt8] = [0xF8] + withUnsafeBytes(of: packetCount.bigEndian, Array.init)
            payload.withUnsafeBytes {
                engine.handle(.microphone($0, sampleCount: 960, capturedAt: now), at: now, into: &sink)
            }
            flush()
        }
    }

    private func connect(_ path: PathID, _ from: IPAddress, _ to: SocketAddress) {
        nextStreamPort += 1
        let local = SocketAddress(ip: from, port: nextStreamPort)
        network?.connect(from: local, to: to) { [self] stream in
            guard let network else { return }
            guard let stream else { return handle(.pathClosed(path), at: network.now) }
            streams[path] = stream
            stream.receive = { [unowned self] bytes in
                var bytes = bytes
                bytes.withUnsafeMutableBytes {
                    let route = Route(path: path, remote: SocketAddress(ip: .v4(0), port: 0))
                    engine.handle(.datagram($0, count: $0.count, route), at: network.now, into: &sink)
                }
                flush()
            }
            stream.closed = { [unowned self] in handle(.pathClosed(path), at: network.now) }
            handle(.pathOpened(path, address: local, localPreference: 0), at: network.now)
        }
    }

    private func path(_ index: Int) -> PathID { PathID(rawValue: UInt16(index + 1)) }

    private func flush() {
        guard let network else { return }
        let effects = sink
        sink = RecordingSink()
        for (bytes, route) in effects.sent {
            if Reach.isSocket(route.path) {
                network.send(bytes, from: addresses[Int(route.path.rawValue) - 1], to: route.remote)
            } else {
                streams[route.path]?.send(bytes)
            }
        }
        for path in effects.disconnects { streams.removeValue(forKey: path)?.close() }
        for (path, from, to) in effects.connects { connect(path, from, to) }
        if effects.events.contains(.connected), connectedAt == nil { connectedAt = network.now }
        events += effects.events
        played += effects.played
    }
}

/// Keeps what an engine says until its voice passes it on.
struct RecordingSink: EngineSink {
    var connects: [(PathID, from: IPAddress, to: SocketAddress)] = []
    var disconnects: [PathID] = []
    var sent: [([UInt8], Route)] = []
    var played: [VirtualVoice.Played] = []
    var events: [EngineEvent] = []

    mutating func send(_ datagram: UnsafeRawBufferPointer, to route: Route) {
        sent.append((Array(datagram), route))
    }

    mutating func connect(_ path: PathID, from: IPAddress, to: SocketAddress) {
        connects.append((path, from, to))
    }

    mutating func disconnect(_ path: PathID) {
        disconnects.append(path)
    }

    mutating func play(_ payload: UnsafeRawBufferPointer, _ header: RTPHeader, arrivedAt: Instant) {
        played.append(
            VirtualVoice.Played(
                payload: Array(payload), sequenceNumber: header.sequenceNumber, timestamp: header.timestamp,
                at: arrivedAt))
    }

    mutating func report(_ event: EngineEvent) {
        events.append(event)
    }
}
