import Testing

@testable import Support
@testable import VoiceCore

/// Networks drawn by lot, each with at least one way from the talk post to the provider.
@Suite struct RandomNetworkTests {
    /// Which way there is.
    private enum Way: Int, CaseIterable {
        /// The provider can be sent to by everyone.
        case direct
        /// Both stand behind boxes; STUN finds a way, or a relay is there.
        case boxes
        /// Datagrams reach the relay only.
        case relay
        /// No datagram leaves the site; the relay listens for streams.
        case streamedRelay
        /// No datagram leaves the site; the provider listens for streams.
        case gateway
    }

    private static let kiosk = SocketAddress("10.0.0.5", 5_000)
    private static let blackHole = SocketAddress("10.0.1.5", 5_001)
    private static let publicProvider = SocketAddress("198.51.100.20", 6_000)
    private static let privateProvider = SocketAddress("10.0.9.9", 6_000)

    /// In pieces, so that tests that wait for something real get their turn in between.
    @Test(arguments: 0..<50)
    func noneOfAThousandRandomNetworksWithAWayFailsToConnect(piece: Int) throws {
        var failed: [UInt64] = []
        for seed in UInt64(piece * 20 + 1)...UInt64(piece * 20 + 20) {
            if try !connects(seed: seed) { failed.append(seed) }
        }
        #expect(failed.isEmpty, "by seed")
    }

    private func connects(seed: UInt64) throws -> Bool {
        var random = Entropy.seeded(seed &* 77)
        let way = Way.allCases[Int(seed % UInt64(Way.allCases.count))]
        let kioskKind = VirtualNAT.Kind.allCases.randomElement(using: &random) ?? .fullCone
        let providerKind = VirtualNAT.Kind.allCases.randomElement(using: &random) ?? .fullCone
        let server = VirtualServer(SocketAddress("203.0.113.50", 3_478))
        let dead = VirtualServer(SocketAddress("203.0.113.51", 3_478))
        dead.isDead = true
        var servers: [ReachServer] = []
        switch way {
        case .direct, .gateway: break
        case .boxes:
            servers.append(server.asServer(.reflection))
            if Self.needsRelay(kioskKind, providerKind) { servers.append(server.asServer(.relay)) }
        case .relay: servers.append(server.asServer(.relay))
        case .streamedRelay: servers.append(server.asServer(.relay, over: .tcp))
        }
        if Int.random(in: 0..<4, using: &random) == 0 { servers.append(dead.asServer(.reflection)) }
        let isPrivate = way == .boxes
        let providerAddress = isPrivate ? Self.privateProvider : Self.publicProvider
        let call = try VirtualCall(
            seed: seed, kioskAddresses: Bool.random(using: &random) ? [Self.kiosk] : [Self.blackHole, Self.kiosk],
            providerAddresses: [providerAddress], servers: servers)
        let network = call.network
        network.add(server)
        network.add(dead)
        let gateway = VirtualGateway(SocketAddress("198.51.100.21", 443), for: providerAddress)
        if way == .gateway { network.add(gateway) }
        if Bool.random(using: &random) || isPrivate {
            network.put(Self.kiosk.ip, behind: Self.box(kioskKind, inside: Self.kiosk, "192.0.2.1"))
        }
        if isPrivate {
            network.put(providerAddress.ip, behind: Self.box(providerKind, inside: providerAddress, "192.0.2.2"))
            call.provider.handle(.server(server.asServer(.reflection)), at: network.now)
        }
        let link = VirtualNetwork.Link(
            delay: .milliseconds(Int64.random(in: 1...120, using: &random)),
            jitter: .milliseconds(Int64.random(in: 0...40, using: &random)),
            loss: Double.random(in: 0...0.2, using: &random), mtu: Bool.random(using: &random) ? 1_280 : 1_500)
        network.linkBetween = { from, to in
            var link = link
            let ends: Set = [from, to]
            if ends.contains(Self.blackHole.ip) { link.isBlocked = true }
            let isSite = ends.contains(Self.kiosk.ip)
            switch way {
            case .direct, .boxes: break
            case .relay: link.blocksUDP = isSite && ends.contains(providerAddress.ip)
            case .streamedRelay, .gateway: link.blocksUDP = isSite
            }
            return link
        }
        let offer = call.kiosk.gatheredOffer()
        if isPrivate {
            call.provider.handle(.gather(within: .seconds(1)), at: network.now)
            network.run(.milliseconds(700))
        }
        network.run(.milliseconds(Int64.random(in: 0...300, using: &random)))
        let answer = try call.provider.answer(offer, at: network.now)
        network.run(.milliseconds(Int64.random(in: 0...300, using: &random)))
        let line = way == .gateway ? gateway.candidateLine : ""
        try call.kiosk.accept(answer.withCandidate(line), at: network.now)
        return network.run(until: { call.bothConnected }, within: .seconds(15))
    }

    /// Where a port that only the far end's own address opens meets one that is another for each far end.
    private static func needsRelay(_ a: VirtualNAT.Kind, _ b: VirtualNAT.Kind) -> Bool {
        let strict: Set<VirtualNAT.Kind> = [.portRestricted, .symmetric, .firewall]
        return (a == .symmetric && strict.contains(b)) || (b == .symmetric && strict.contains(a))
    }

    private static func box(_ kind: VirtualNAT.Kind, inside: SocketAddress, _ outside: String) -> VirtualNAT {
        VirtualNAT(kind, address: kind == .firewall ? inside.ip : SocketAddress(outside, 1).ip)
    }
}
