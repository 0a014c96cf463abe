@testable import Support
@testable import VoiceCore

/// A DTLS client and a DTLS server on a seeded link, in virtual time.
final class DTLSPair {
    enum Side {
        case client
        case server

        var other: Side { self == .client ? .server : .client }
    }

    struct Link {
        var loss = 0.0
        var duplication = 0.0
        /// Each datagram takes so long, drawn anew: a wide range reorders.
        var delay = 1...1  // milliseconds
    }

    private struct Flight {
        var at: Instant
        var to: Side
        var bytes: [UInt8]
    }

    var client: DTLSTransport
    var server: DTLSTransport
    private(set) var now = Instant(nanoseconds: 7_000_000_000)
    private(set) var longestDatagram = 0
    private(set) var datagramCount = 0
    private let link: Link
    private var entropy: Entropy
    private var flights: [Flight] = []
    /// What becomes of a datagram on its way to a side; by default it stays as it is.
    var onTheWay: (_ to: Side, _ bytes: [UInt8], _ entropy: inout Entropy) -> [[UInt8]] = { _, bytes, _ in [bytes] }

    init(client: DTLSIdentity, server: DTLSIdentity, link: Link = Link(), seed: UInt64 = 1) throws {
        self.client = try DTLSTransport(role: .client, identity: client)
        self.server = try DTLSTransport(role: .server, identity: server)
        self.link = link
        entropy = .seeded(seed)
    }

    deinit {
        OpenSSLClock.release()
    }

    var areConnected: Bool { client.phase == .connected && server.phase == .connected }

    /// Neither side is still shaking hands.
    var areSettled: Bool { client.phase != .handshaking && server.phase != .handshaking }

    // In a test's #expect no method of a non-copyable property can be called.
    func clientKeys() throws -> SRTPKeys { try client.srtpKeys() }
    func serverKeys() throws -> SRTPKeys { try server.srtpKeys() }
    func serverAccepts(_ fingerprints: [Fingerprint]) -> Bool { server.peerMatches(fingerprints) }

    /// For what our own transports never do, set before the start.
    func ssl(of side: Side) -> OpaquePointer { side == .client ? client.ssl : server.ssl }

    func start() {
        OpenSSLClock.set(to: now)
        server.start(at: now)
        client.start(at: now)
        collect()
    }

    /// Starts, and runs until nobody shakes hands any more; one second more, for late datagrams.
    func shakeHands() {
        start()
        run(for: .seconds(60)) { self.areSettled }
        run(for: .seconds(1)) { false }
    }

    /// Lets time pass, event by event, until `done`.
    func run(for limit: Duration, until done: () -> Bool) {
        let end = now + limit
        collect()
        while !done() {
            let times = flights.map(\.at) + [client.deadline, server.deadline].compactMap { $0 }
            guard let next = times.min(), next <= end else {
                now = end
                return
            }
            now = max(now, next)
            OpenSSLClock.set(to: now)
            if let deadline = client.deadline, deadline <= now { client.handleTimeout(at: now) }
            if let deadline = server.deadline, deadline <= now { server.handleTimeout(at: now) }
            let arrived = flights.filter { $0.at <= now }
            flights.removeAll { $0.at <= now }
            for flight in arrived { deliver(flight.bytes, to: flight.to) }
            collect()
        }
    }

    /// Hands a datagram over at once.
    func deliver(_ bytes: [UInt8], to side: Side) {
        OpenSSLClock.set(to: now)
        bytes.withUnsafeBytes {
            switch side {
            case .client: client.receive($0, at: now)
            case .server: server.receive($0, at: now)
            }
        }
    }

    /// What a side wants to send now, past the link.
    func take(from side: Side) -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while let count = buffer.withUnsafeMutableBytes({
            side == .client ? client.nextDatagram(into: $0) : server.nextDatagram(into: $0)
        }) {
            datagrams.append(Array(buffer[..<count]))
        }
        return datagrams
    }

    func applicationData(at side: Side) -> [[UInt8]] {
        var messages: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while let count = buffer.withUnsafeMutableBytes({
            side == .client ? client.nextApplicationData(into: $0) : server.nextApplicationData(into: $0)
        }) {
            messages.append(Array(buffer[..<count]))
        }
        return messages
    }

    /// Puts onto the link what both sides want to send.
    private func collect() {
        for side in [Side.client, .server] {
            for datagram in take(from: side) {
                datagramCount += 1
                longestDatagram = max(longestDatagram, datagram.count)
                for bytes in onTheWay(side.other, datagram, &entropy) { send(bytes, to: side.other) }
            }
        }
    }

    private func send(_ bytes: [UInt8], to side: Side) {
        let copies = happens(link.duplication) ? 2 : 1
        for _ in 0..<copies where !happens(link.loss) {
            let delay = Duration.milliseconds(Int.random(in: link.delay, using: &entropy))
            flights.append(Flight(at: now + delay, to: side, bytes: bytes))
        }
    }

    private func happens(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &entropy) < probability
    }
}
