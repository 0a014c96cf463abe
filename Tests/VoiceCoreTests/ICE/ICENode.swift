@testable import Support
@testable import VoiceCore

/// A machine with a bare agent and one address for each path.
final class ICENode: VirtualHost {
    weak var network: VirtualNetwork?
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

    var deadline: Instant? { agent.deadline?.at }

    func owns(_ address: SocketAddress) -> Bool { addresses.values.contains(address) }

    func deliver(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, at now: Instant) {
        guard let path = addresses.first(where: { $0.value == to })?.key else { return }
        bytes.withUnsafeBytes { agent.receive($0, from: Route(path: path, remote: from), at: now) }
        flush(at: now)
    }

    func wake(at now: Instant) {
        agent.handleTimeout(at: now)
        flush(at: now)
    }

    func flush(at now: Instant) {
        while let event = agent.nextEvent() { events.append((now, event)) }
        for (bytes, route) in takeTransmits() {
            guard let from = addresses[route.path] else { continue }
            network?.send(bytes, from: from, to: route.remote)
        }
    }

    /// Hands this node the description of the other.
    func setRemote(_ other: ICENode, candidates: [Candidate]? = nil, at now: Instant) {
        agent.setRemote(
            other.credentials, isLite: other.agent.isLite, candidates: candidates ?? other.agent.localCandidates,
            at: now)
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
