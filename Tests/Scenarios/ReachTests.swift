import Testing

@testable import Support
@testable import VoiceCore

/// Calls through NATs, firewalls and relays, in virtual time.
@Suite struct ReachTests {
    private static let serverAddress = SocketAddress("198.51.100.1", 3478)
    private static let inside = SocketAddress("10.0.0.5", 5_000)
    private static let outside = SocketAddress("203.0.113.1", 1)

    private func call(
        seed: UInt64, _ services: [STUNServerURL.Service] = [], server: VirtualServer = VirtualServer(serverAddress)
    ) throws -> VirtualCall {
        let call = try VirtualCall(
            seed: seed, kioskAddresses: [Self.inside], servers: services.map { server.asServer($0) })
        call.network.add(server)
        return call
    }

    @Test func theOfferNamesHowAPathLooksFromOutside() throws {
        let call = try call(seed: 1, [.reflection])
        call.network.put(Self.inside.ip, behind: VirtualNAT(.portRestricted, address: Self.outside.ip))
        let start = call.network.now
        let offer = call.kiosk.gatheredOffer()
        #expect(offer.contains(" typ srflx raddr 10.0.0.5 rport 5000"))
        #expect(offer.contains("203.0.113.1 20001"))
        #expect(call.network.now - start <= .milliseconds(21))
    }

    @Test func whereNothingIsTranslatedNothingIsAddedToTheOffer() throws {
        let call = try call(seed: 2, [.reflection])
        let offer = call.kiosk.gatheredOffer()
        #expect(!offer.contains("srflx"))
    }

    @Test func withoutServersTheOfferComesAtOnce() throws {
        let call = try call(seed: 3)
        let start = call.network.now
        _ = call.kiosk.gatheredOffer()
        #expect(call.network.now == start)
    }

    @Test func aDeadServerHoldsTheOfferForASecondAtMost() throws {
        let server = VirtualServer(Self.serverAddress)
        server.isDead = true
        let call = try call(seed: 4, [.reflection, .relay], server: server)
        let start = call.network.now
        _ = call.kiosk.gatheredOffer()
        #expect(call.network.now - start <= .seconds(1))
        try call.connect()
    }

    @Test func aDeadServerBesideALivingOneHoldsTheOfferForAFifthOfASecond() throws {
        let dead = VirtualServer(SocketAddress("198.51.100.2", 3478))
        dead.isDead = true
        let living = VirtualServer(Self.serverAddress)
        let call = try VirtualCall(
            seed: 5, kioskAddresses: [Self.inside],
            servers: [dead.asServer(.reflection), living.asServer(.reflection)])
        call.network.add(dead)
        call.network.add(living)
        call.network.put(Self.inside.ip, behind: VirtualNAT(.symmetric, address: Self.outside.ip))
        let start = call.network.now
        let offer = call.kiosk.gatheredOffer()
        #expect(offer.contains("srflx"))
        #expect(call.network.now - start <= .milliseconds(221))
    }

    @Test func whereNothingButTheRelayIsReachedTheCallGoesThroughIt() throws {
        let server = VirtualServer(Self.serverAddress)
        let call = try call(seed: 6, [.relay], server: server)
        call.network.linkBetween = { from, to in
            let ends: Set = [from, to]
            return VirtualNetwork.Link(
                isBlocked: ends == [Self.inside.ip, VirtualCall.providerAddress.ip])
        }
        let offer = call.kiosk.gatheredOffer()
        #expect(offer.contains("198.51.100.1 50001 typ relay"))
        let start = call.network.now
        try call.connect(offer: offer)
        #expect(call.network.now - start <= .seconds(1))
        call.speakBothWays(for: .seconds(2))
        #expect(call.kiosk.played.count == 100)
        #expect(call.provider.played.count == 100)
        // On the channel, but for what went before it was bound.
        #expect(server.channelDataCount > 150)
        #expect(server.indicationCount < 30)
    }

    @Test(arguments: ["198.51.100.20", "2001:db8::20"])
    func aRelayReachesAProviderOfEitherFamily(provider: String) throws {
        let server = VirtualServer(Self.serverAddress)
        server.address6 = IPAddress("2001:db8::50")
        let provider = SocketAddress(provider, 6_000)
        let call = try VirtualCall(
            seed: 7, kioskAddresses: [Self.inside], providerAddresses: [provider], servers: [server.asServer(.relay)])
        call.network.add(server)
        call.network.linkBetween = { from, to in
            VirtualNetwork.Link(isBlocked: [from, to].contains(Self.inside.ip) && [from, to].contains(provider.ip))
        }
        try call.connect(offer: call.kiosk.gatheredOffer())
        call.speakBothWays(for: .seconds(1))
        #expect(call.kiosk.played.count == 50)
        #expect(call.provider.played.count == 50)
        #expect(server.channelDataCount > 90)
    }

    @Test func aRelayThatIsNotNeededIsGivenBack() throws {
        let server = VirtualServer(Self.serverAddress)
        let call = try call(seed: 7, [.relay], server: server)
        let offer = call.kiosk.gatheredOffer()
        try call.connect(offer: offer)
        call.network.run(.seconds(1))
        #expect(server.requestCounts[TURNMethod.allocate] == 2)
        #expect(server.allocations.isEmpty)
    }

    @Test func aRelayInUseIsGivenBackAtTheEnd() throws {
        let server = VirtualServer(Self.serverAddress)
        let call = try call(seed: 8, [.relay], server: server)
        call.network.linkBetween = { from, to in
            VirtualNetwork.Link(isBlocked: Set([from, to]) == [Self.inside.ip, VirtualCall.providerAddress.ip])
        }
        try call.connect(offer: call.kiosk.gatheredOffer())
        call.kiosk.handle(.close, at: call.network.now)
        call.network.run(.seconds(1))
        #expect(server.allocations.isEmpty)
        #expect(call.provider.events.last == .closedByPeer)
    }

    @Test func anHourThroughARelayIsNotCut() throws {
        let server = VirtualServer(Self.serverAddress)
        let call = try call(seed: 9, [.relay], server: server)
        call.network.linkBetween = { from, to in
            VirtualNetwork.Link(
                loss: 0.05, isBlocked: Set([from, to]) == [Self.inside.ip, VirtualCall.providerAddress.ip])
        }
        try call.connect(offer: call.kiosk.gatheredOffer())
        call.network.run(.seconds(3600))
        call.network.linkBetween = { from, to in
            VirtualNetwork.Link(isBlocked: Set([from, to]) == [Self.inside.ip, VirtualCall.providerAddress.ip])
        }
        call.network.run(.seconds(10))
        #expect(call.bothConnected)
        call.speakBothWays(for: .seconds(1))
        #expect(call.provider.played.count == 50)
    }

    @Test func withUDPBlockedTheFailureIsNamedWithinTenSeconds() throws {
        let call = try call(seed: 10, [.reflection])
        call.network.link.blocksUDP = true
        let answer = try call.provider.answer(call.kiosk.gatheredOffer(), at: call.network.now)
        let start = call.network.now
        try call.kiosk.accept(answer, at: start)
        call.network.run(until: { call.kiosk.hasEnded }, within: .seconds(20))
        #expect(call.network.now - start <= .seconds(10))
        #expect(call.kiosk.events.count == 1)
        if case .udpBlocked = call.kiosk.events.first {} else { Issue.record("\(call.kiosk.events)") }
    }

    // MARK: Streams

    private static let gatewayAddress = SocketAddress("192.0.2.9", 443)
    private static let proxyAddress = SocketAddress("10.0.0.1", 3128)

    /// The time from the answer until both are connected, where no datagram leaves the kiosk.
    private func connectWithoutUDP(_ call: VirtualCall, _ candidateLine: String = "") throws -> Duration {
        call.network.linkBetween = { from, to in
            VirtualNetwork.Link(delay: .milliseconds(50), blocksUDP: [from, to].contains(Self.inside.ip))
        }
        let answer = try call.provider.answer(call.kiosk.gatheredOffer(), at: call.network.now)
        let start = call.network.now
        try call.kiosk.accept(answer.withCandidate(candidateLine), at: start)
        try #require(call.network.run(until: { call.bothConnected }, within: .seconds(10)))
        return call.network.now - start
    }

    @Test func withUDPBlockedTheCallGoesOverTCP() throws {
        let gateway = VirtualGateway(Self.gatewayAddress, for: VirtualCall.providerAddress)
        let call = try call(seed: 20)
        call.network.add(gateway)
        #expect(try connectWithoutUDP(call, gateway.candidateLine) <= .seconds(3))
        call.speakBothWays(for: .seconds(2))
        #expect(call.kiosk.played.count == 100)
        #expect(call.provider.played.count == 100)
    }

    @Test func withUDPBlockedTheCallGoesThroughARelayOverTCP() throws {
        let server = VirtualServer(Self.serverAddress)
        let call = try VirtualCall(
            seed: 21, kioskAddresses: [Self.inside], servers: [server.asServer(.relay, over: .tcp)])
        call.network.add(server)
        #expect(try connectWithoutUDP(call) <= .seconds(3))
        call.speakBothWays(for: .seconds(2))
        #expect(call.kiosk.played.count == 100)
        #expect(call.provider.played.count == 100)
        call.kiosk.handle(.close, at: call.network.now)
        call.network.run(.seconds(1))
        #expect(server.allocations.isEmpty)
    }

    @Test func whereUDPPassesNoStreamIsOpened() throws {
        let gateway = VirtualGateway(Self.gatewayAddress, for: VirtualCall.providerAddress)
        let call = try call(seed: 22)
        call.network.add(gateway)
        let answer = try call.provider.answer(call.kiosk.gatheredOffer(), at: call.network.now)
        try call.kiosk.accept(answer.withCandidate(gateway.candidateLine), at: call.network.now)
        call.network.run(.seconds(2))
        #expect(call.bothConnected)
        #expect(gateway.acceptedCount == 0)
    }

    @Test func aStreamThatEndsIsOpenedAnew() throws {
        let gateway = VirtualGateway(Self.gatewayAddress, for: VirtualCall.providerAddress)
        let call = try call(seed: 23)
        call.network.add(gateway)
        _ = try connectWithoutUDP(call, gateway.candidateLine)
        gateway.closeAll()
        call.network.run(.seconds(3))
        #expect(call.kiosk.isConnected)
        call.speakBothWays(for: .seconds(1))
        #expect(call.provider.played.count == 50)
    }

    @Test(arguments: [nil, "user:word"])
    func aProxyThatKnowsCONNECTCarriesTheStream(credential: String?) throws {
        let gateway = VirtualGateway(Self.gatewayAddress, for: VirtualCall.providerAddress)
        let proxy = VirtualProxy(Self.proxyAddress)
        proxy.authorization = credential.map { _ in "Proxy-Authorization: Basic dXNlcjp3b3Jk\r\n" }
        let call = try VirtualCall(
            seed: 24, kioskAddresses: [Self.inside],
            proxy: ReachProxy(address: Self.proxyAddress, credential: credential))
        call.network.add(gateway)
        call.network.add(proxy)
        #expect(try connectWithoutUDP(call, gateway.candidateLine) <= .seconds(3))
        #expect(proxy.requests.first?.hasPrefix("CONNECT 192.0.2.9:443 HTTP/1.1\r\nHost: 192.0.2.9:443\r\n") == true)
        call.speakBothWays(for: .seconds(1))
        #expect(call.provider.played.count == 50)
    }

    @Test(arguments: [(403, "does not allow"), (407, "proxy_credential"), (502, "cannot reach"), (418, "418")])
    func whatAProxyRefusesIsSaid(status: Int, words: String) throws {
        let gateway = VirtualGateway(Self.gatewayAddress, for: VirtualCall.providerAddress)
        let proxy = VirtualProxy(Self.proxyAddress)
        proxy.refusal = status
        let call = try VirtualCall(
            seed: 25, kioskAddresses: [Self.inside], proxy: ReachProxy(address: Self.proxyAddress, credential: nil))
        call.network.add(gateway)
        call.network.add(proxy)
        call.network.link.blocksUDP = true
        let answer = try call.provider.answer(call.kiosk.gatheredOffer(), at: call.network.now)
        try call.kiosk.accept(answer.withCandidate(gateway.candidateLine), at: call.network.now)
        call.network.run(.seconds(12))
        guard case .udpBlocked(let sentence) = call.kiosk.events.first else {
            Issue.record("\(call.kiosk.events)")
            return
        }
        #expect(sentence.contains(words))
    }
}
