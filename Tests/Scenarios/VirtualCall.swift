import Testing

@testable import Support
@testable import VoiceCore

extension SocketAddress {
    /// For tests: a literal address that is known to be one.
    init(_ ip: String, _ port: UInt16) {
        guard let ip = IPAddress(ip) else { preconditionFailure("not an address: \(ip)") }
        self.init(ip: ip, port: port)
    }
}

/// A kiosk that offers and a provider that answers, on one virtual network.
final class VirtualCall {
    static let kioskAddress = SocketAddress("192.0.2.1", 5_000)
    static let providerAddress = SocketAddress("192.0.2.2", 6_000)
    /// Made once: keys are not what these tests are about.
    private static let identities = Result { (try DTLSIdentity(), try DTLSIdentity()) }

    let network: VirtualNetwork
    let kiosk: VirtualVoice
    let provider: VirtualVoice

    init(
        seed: UInt64, kioskAddresses: [SocketAddress] = [kioskAddress],
        providerAddresses: [SocketAddress] = [providerAddress], channel: String? = "oai-events",
        turns: TurnTaking? = nil, servers: [ReachServer] = [], proxy: ReachProxy? = nil
    ) throws {
        let identities = try Self.identities.get()
        network = VirtualNetwork(seed: seed)
        kiosk = VirtualVoice(
            .offering, on: network, addresses: kioskAddresses, identity: identities.0, seed: seed &* 2,
            channel: channel, turns: turns, servers: servers, proxy: proxy)
        provider = VirtualVoice(
            .answering, on: network, addresses: providerAddresses, identity: identities.1, seed: seed &* 2 &+ 1)
    }

    var bothConnected: Bool { kiosk.isConnected && provider.isConnected }

    /// Exchanges offer and answer at once and waits until both are connected.
    func connect(offer: String? = nil, within limit: Duration = .seconds(5)) throws {
        let answer = try provider.answer(offer ?? kiosk.offer(), at: network.now)
        try kiosk.accept(answer, at: network.now)
        try #require(network.run(until: { self.bothConnected }, within: limit))
    }

    /// Both speak, and what is on its way at the end still arrives.
    func speakBothWays(for duration: Duration) {
        for voice in [kiosk, provider] { voice.speak(true, at: network.now) }
        network.run(duration - .milliseconds(1))
        for voice in [kiosk, provider] { voice.speak(false, at: network.now) }
        network.run(.milliseconds(500))
    }
}

extension String {
    /// An answer with one more candidate in its first section.
    func withCandidate(_ line: String) -> String {
        let marker = "a=end-of-candidates\r\n"
        let lines = components(before: marker)
        return lines.0 + line + lines.1
    }

    private func components(before marker: String) -> (String, String) {
        guard let range = ranges(of: marker).first else { return (self, "") }
        return (String(self[..<range.lowerBound]), String(self[range.lowerBound...]))
    }
}
