@testable import Support
@testable import VoiceCore

/// A network of ICE agents and stubs in virtual time: every datagram goes through `link`, so a test decides on loss, delay and
/// order for each direction, and a path may stand behind a NAT.
final class ICENetwork {
    /// What happens to datagrams from one IP address to another.
    struct Link {
        var delay: Duration = .milliseconds(10)
        /// Added at random, so that datagrams overtake each other.
        var jitter: Duration = .zero
        var loss = 0.0
        var duplication = 0.0
        var isBlocked = false
    }

    enum NAT {
        /// One outside port; anyone may send to it.
        case fullCone
        /// One outside port; only who was sent to may send back.
        case portRestricted
        /// Another outside port for each destination, and only that may send back.
        case symmetric
    }

    private struct Flight {
        var at: Instant
        var order: Int
        var bytes: [UInt8]
        var from: SocketAddress
        var to: SocketAddress
    }

    private struct Mapping {
        var inside: SocketAddress
        var outside: SocketAddress
        /// Nil: any.
        var remote: SocketAddress?
        var peers: Set<SocketAddress> = []
    }

    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    var link: (_ from: IPAddress, _ to: IPAddress) -> Link = { _, _ in Link() }
    /// Sees every datagram as it is sent, with the address it leaves from.
    var onSend: ((_ bytes: [UInt8], _ from: SocketAddress, _ to: SocketAddress) -> Void)?
    private var random: Entropy
    private var nodes: [ICENode] = []
    private var stubs: [SocketAddress: ([UInt8], SocketAddress) -> [UInt8]?] = [:]
    private var flights: [Flight] = []
    private var order = 0
    private var nats: [SocketAddress: (kind: NAT, address: IPAddress)] = [:]
    private var mappings: [Mapping] = []
    private var nextPort: UInt16 = 20000

    init(seed: UInt64) {
        random = .seeded(seed)
    }

    func add(_ node: ICENode) {
        nodes.append(node)
    }

    /// A host without an agent: it answers a datagram with one, or not.
    func addStub(at address: SocketAddress, answer: @escaping ([UInt8], SocketAddress) -> [UInt8]?) {
        stubs[address] = answer
    }

    func putBehindNAT(_ inside: SocketAddress, kind: NAT, address: IPAddress) {
        nats[inside] = (kind, address)
    }

    func run(for duration: Duration, until isDone: () -> Bool = { false }) {
        let end = now + duration
        for node in nodes { drain(node) }
        while !isDone() {
            let next = [flights.first?.at, nodes.compactMap { $0.agent.deadline?.at }.min()].compactMap { $0 }.min()
            guard let next, next <= end else { break }
            now = max(now, next)
            while let flight = flights.first, flight.at <= now {
                flights.removeFirst()
                deliver(flight)
            }
            for node in nodes where node.agent.deadline.map({ $0.at <= now }) ?? false {
                node.agent.handleTimeout(at: now)
                drain(node)
            }
        }
        if !isDone() { now = end }
    }

    /// Sends whatever the node has to say and takes its events.
    func drain(_ node: ICENode) {
        node.collectEvents(at: now)
        for (bytes, route) in node.takeTransmits() {
            guard let from = node.addresses[route.path] else { continue }
            send(bytes, from: from, to: route.remote)
        }
    }

    func send(_ bytes: [UInt8], from inside: SocketAddress, to: SocketAddress) {
        onSend?(bytes, inside, to)
        let link = link(inside.ip, to.ip)
        let copies = chance(link.duplication) ? 2 : 1
        for _ in 0..<copies where !link.isBlocked && !chance(link.loss) {
            let extra = Int64.random(in: 0...max(0, link.jitter.wholeNanoseconds), using: &random)
            let flight = Flight(
                at: now + link.delay + .nanoseconds(extra), order: order, bytes: bytes,
                from: translated(inside, to: to), to: to)
            order += 1
            let index = flights.firstIndex { ($0.at, $0.order) > (flight.at, flight.order) } ?? flights.count
            flights.insert(flight, at: index)
        }
    }

    private func chance(_ probability: Double) -> Bool {
        probability > 0 && Double(random.next() >> 11) / Double(1 << 53) < probability
    }

    private func deliver(_ flight: Flight) {
        guard let to = untranslated(flight.to, from: flight.from) else { return }
        if let answer = stubs[to] {
            if let bytes = answer(flight.bytes, flight.from) { send(bytes, from: to, to: flight.from) }
            return
        }
        for node in nodes {
            guard let path = node.addresses.first(where: { $0.value == to })?.key else { continue }
            flight.bytes.withUnsafeBytes {
                node.agent.receive($0, from: Route(path: path, remote: flight.from), at: now)
            }
            drain(node)
        }
    }

    private func translated(_ inside: SocketAddress, to: SocketAddress) -> SocketAddress {
        guard let nat = nats[inside] else { return inside }
        let remote = nat.kind == .symmetric ? to : nil
        if let index = mappings.firstIndex(where: { $0.inside == inside && $0.remote == remote }) {
            mappings[index].peers.insert(to)
            return mappings[index].outside
        }
        nextPort += 1
        let outside = SocketAddress(ip: nat.address, port: nextPort)
        mappings.append(Mapping(inside: inside, outside: outside, remote: remote, peers: [to]))
        return outside
    }

    private func untranslated(_ to: SocketAddress, from: SocketAddress) -> SocketAddress? {
        guard let mapping = mappings.first(where: { $0.outside == to }) else {
            return nats[to] == nil ? to : nil  // An inside address is not reached from outside.
        }
        let isOpen = nats[mapping.inside]?.kind == .fullCone || mapping.peers.contains(from)
        return isOpen ? mapping.inside : nil
    }
}

/// A machine on the `ICENetwork` with an agent and one address for each path.
final class ICENode {
    var agent: ICEAgent
    let credentials: ICECredentials
    private(set) var addresses: [PathID: SocketAddress] = [:]
    private(set) var events: [(at: Instant, event: ICEEvent)] = []
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1200, alignment: 8)

    init(isControlling: Bool, isLite: Bool = false, seed: UInt64, addresses: [String], at now: Instant) {
        var entropy = Entropy.seeded(seed)
        credentials = ICECredentials(from: &entropy)
        agent = ICEAgent(isControlling: isControlling, isLite: isLite, local: credentials, entropy: entropy)
        for (index, address) in addresses.enumerated() {
            addLocal(PathID(rawValue: UInt16(index)), address, localPreference: UInt16(65535 - index), at: now)
        }
    }

    deinit {
        buffer.deallocate()
    }

    func addLocal(_ path: PathID, _ text: String, localPreference: UInt16, at now: Instant) {
        let address = SocketAddress(text)
        addresses[path] = address
        agent.addLocal(path: path, address: address, localPreference: localPreference, at: now)
    }

    /// Hands this node the description of the other.
    func setRemote(_ other: ICENode, candidates: [Candidate]? = nil, at now: Instant) {
        agent.setRemote(
            other.credentials, isLite: other.agent.isLite, candidates: candidates ?? other.agent.localCandidates,
            at: now)
    }

    func collectEvents(at now: Instant) {
        while let event = agent.nextEvent() { events.append((now, event)) }
    }

    func takeTransmits() -> [(bytes: [UInt8], route: Route)] {
        var transmits: [(bytes: [UInt8], route: Route)] = []
        while let (byteCount, route) = agent.nextTransmit(into: buffer) {
            transmits.append((Array(buffer[..<byteCount]), route))
        }
        return transmits
    }

    /// When this event happened first.
    func time(of event: ICEEvent) -> Instant? {
        events.first { $0.event == event }?.at
    }

    var selections: [Route] {
        events.compactMap { if case .selected(let route) = $0.event { route } else { nil } }
    }

    var failure: ICEFailure? {
        events.lazy.compactMap { if case .failed(let reason) = $0.event { reason } else { nil } }.first
    }

    var isConnected: Bool { agent.selectedRoute != nil }
}

extension SocketAddress {
    /// "192.0.2.1:5000" or "[2001:db8::1]:5000"; an unreadable one is 0.0.0.0:0, which no test uses. A link-local one
    /// belongs to interface 7.
    init(_ text: String) {
        let parts = text.split(separator: ":")
        let port = parts.last.flatMap { UInt16($0) } ?? 0
        let host = text.dropLast((parts.last?.count ?? 0) + 1).filter { $0 != "[" && $0 != "]" }
        var ip = IPAddress(host) ?? .v4(0)
        if ip.isLinkLocal, case .v6(let high, let low, _) = ip { ip = .v6(high: high, low: low, scope: 7) }
        self.init(ip: ip, port: port)
    }
}

extension Candidate {
    /// A host candidate as a remote description has it.
    static func host(_ text: String, priority: UInt32 = 2_130_706_431, transport: Transport = .udp) -> Candidate {
        var address = SocketAddress(text)
        if case .v6(let high, let low, _) = address.ip { address.ip = .v6(high: high, low: low) }
        return Candidate(
            foundation: "1", transport: transport, priority: priority, address: address, kind: .host, related: nil)
    }
}

/// Encodes one message as a peer would.
func stunMessage(
    _ kind: STUNMessage.Kind, _ transaction: STUNTransactionID, password: String?,
    _ attributes: (inout STUNWriter) -> Void
) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1200)
    let byteCount = bytes.withUnsafeMutableBytes { buffer in
        var writer = STUNWriter(buffer, kind: kind, transaction: transaction)
        attributes(&writer)
        return writer.finish(key: password.map { STUNKey(password: $0) })
    }
    return Array(bytes.prefix(byteCount ?? 0))
}

/// A stub that answers checks as an ice-lite provider does.
func liteAnswer(_ request: [UInt8], from source: SocketAddress, password: String) -> [UInt8]? {
    request.withUnsafeBytes { raw in
        guard let message = try? STUNMessage(parsing: raw), message.kind == .request,
            message.isAuthentic(STUNKey(password: password))
        else { return nil }
        return stunMessage(.success, message.transaction, password: password) { $0.xorMappedAddress(source) }
    }
}
