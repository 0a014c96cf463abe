import Testing

@testable import Support
@testable import VoiceCore

/// What happens to a voice over time and distance: how long it takes to connect, and how it gets over a change of network.
@Suite struct JourneyTests {
    private static let second = SocketAddress("192.0.2.77", 5_001)

    /// What stands between talk post and provider.
    private enum Way: CaseIterable {
        case nothing
        case nat
        /// A NAT, and a STUN server as far away as the rest.
        case natWithSTUN
    }

    /// Round trips from the press to connected, the backend as far away as the provider.
    private func roundTrips(_ milliseconds: Int, _ way: Way) throws -> Double {
        let server = VirtualServer(SocketAddress("203.0.113.50", 3_478))
        let call = try VirtualCall(
            seed: 1, kioskAddresses: [SocketAddress("10.0.0.5", 5_000)],
            servers: way == .natWithSTUN ? [server.asServer(.reflection)] : [])
        call.network.add(server)
        if way != .nothing {
            call.network.put(
                SocketAddress("10.0.0.5", 1).ip,
                behind: VirtualNAT(.portRestricted, address: SocketAddress("203.0.113.1", 1).ip))
        }
        let roundTrip = Duration.milliseconds(milliseconds)
        call.network.link.delay = roundTrip / 2
        let press = call.network.now
        let offer = call.kiosk.gatheredOffer()
        call.network.run(roundTrip / 2)
        let answer = try call.provider.answer(offer, at: call.network.now)
        call.network.run(roundTrip / 2)
        try call.kiosk.accept(answer, at: call.network.now)
        try #require(call.network.run(until: { call.kiosk.isConnected }, within: .seconds(10)))
        return (call.network.now - press).inSeconds / roundTrip.inSeconds
    }

    @Test func connectingTakesFourRoundTripsFromThePressAtMost() throws {
        var table = "round trip, ms | no NAT | NAT | NAT and STUN: round trips from press to connected\n"
        for milliseconds in [50, 100, 200] {
            let took = try Way.allCases.map { try roundTrips(milliseconds, $0) }
            table += "\(milliseconds) | \(took[0]) | \(took[1]) | \(took[2])\n"
            #expect(took[0] <= 4)
            #expect(took[1] <= 4)
            // The provider checks our private address first, the one that reaches us its pace of 5 ms later.
            #expect(took[2] <= 4 + 5.0 / Double(milliseconds) + 0.001)
        }
        print(table)
    }

    @Test func aVoiceMovesToANewNetworkWhenTheOldOneIsGone() throws {
        let call = try VirtualCall(seed: 30)
        try call.connect()
        call.kiosk.closePath(0, at: call.network.now)
        call.network.run(.seconds(1))
        call.kiosk.openPath(Self.second, at: call.network.now)
        call.network.run(.seconds(1))
        #expect(call.kiosk.isConnected)
        call.speakBothWays(for: .seconds(1))
        #expect(call.kiosk.played.count == 50)
        #expect(call.provider.played.count == 50)
    }

    @Test func aVoiceMovesToTheOtherNetworkWhenItsOwnFallsSilent() throws {
        let call = try VirtualCall(seed: 31)
        try call.connect()
        call.kiosk.openPath(Self.second, at: call.network.now)
        call.network.run(.seconds(3))
        call.network.linkBetween = { from, to in
            VirtualNetwork.Link(isBlocked: [from, to].contains(VirtualCall.kioskAddress.ip))
        }
        let cutAt = call.network.now
        call.network.run(until: { call.kiosk.phase == .disconnected }, within: .seconds(10))
        call.network.run(until: { call.kiosk.isConnected }, within: .seconds(10))
        #expect(call.kiosk.isConnected)
        #expect(call.network.now - cutAt <= .seconds(6))
        call.speakBothWays(for: .seconds(1))
        #expect(call.kiosk.played.count == 50)
        #expect(call.provider.played.count == 50)
    }

    @Test func whereTheOtherSideDoesNotFollowTheVoiceEndsSoon() throws {
        let call = try VirtualCall(seed: 32)
        try call.connect()
        call.network.linkBetween = { from, to in
            VirtualNetwork.Link(isBlocked: [from, to].contains(Self.second.ip))
        }
        call.kiosk.closePath(0, at: call.network.now)
        call.kiosk.openPath(Self.second, at: call.network.now)
        let movedAt = call.network.now
        call.network.run(until: { call.kiosk.hasEnded }, within: .seconds(30))
        #expect(call.network.now - movedAt <= .seconds(6))
        guard case .failed(let sentence) = call.kiosk.events.last else {
            Issue.record("\(call.kiosk.events)")
            return
        }
        #expect(sentence.contains("did not follow"))
    }

    @Test(arguments: [false, true])
    func anAnswerOnTheNewPathIsNotEnoughWhereAllElseGoesToTheOldOne(speaks: Bool) throws {
        let call = try VirtualCall(seed: 35)
        try call.connect()
        call.speakBothWays(for: .seconds(1))
        // Checks are answered (RFC 7983: STUN begins with 0 to 3), media and DTLS are not sent there.
        call.network.tamper = { bytes, _, to in to.ip == Self.second.ip && bytes[0] > 3 ? nil : bytes }
        call.kiosk.closePath(0, at: call.network.now)
        call.kiosk.openPath(Self.second, at: call.network.now)
        if speaks { call.provider.speak(true, at: call.network.now) }
        let movedAt = call.network.now
        call.network.run(until: { call.kiosk.hasEnded }, within: .seconds(30))
        #expect(call.network.now - movedAt <= .seconds(4))
        guard case .failed(let sentence) = call.kiosk.events.last else {
            Issue.record("\(call.kiosk.events)")
            return
        }
        #expect(sentence.contains("did not follow"))
    }

    @Test func aSilentProviderThatFollowsIsKept() throws {
        let call = try VirtualCall(seed: 36)
        try call.connect()
        call.speakBothWays(for: .seconds(1))
        call.kiosk.closePath(0, at: call.network.now)
        call.kiosk.openPath(Self.second, at: call.network.now)
        call.network.run(.seconds(20))
        #expect(call.kiosk.isConnected)
    }

    @Test func twoHomesBehindOneProvidersNATMeetWhereItTurnsThemAround() throws {
        let server = VirtualServer(SocketAddress("203.0.113.50", 3_478))
        let kiosk = SocketAddress("10.0.0.5", 5_000)
        let provider = SocketAddress("10.0.9.9", 6_000)
        let call = try VirtualCall(
            seed: 33, kioskAddresses: [kiosk], providerAddresses: [provider], servers: [server.asServer(.reflection)])
        call.network.add(server)
        let carrier = VirtualNAT(.fullCone, address: SocketAddress("203.0.113.1", 1).ip, hairpins: true)
        for (inside, home) in [(kiosk, "100.64.0.1"), (provider, "100.64.0.2")] {
            let home = SocketAddress(home, 1).ip
            call.network.put(inside.ip, behind: VirtualNAT(.portRestricted, address: home))
            call.network.put(home, behind: carrier)
        }
        call.provider.handle(.server(server.asServer(.reflection)), at: call.network.now)
        call.provider.handle(.gather(within: .seconds(1)), at: call.network.now)
        call.network.run(.milliseconds(100))
        try call.connect(offer: call.kiosk.gatheredOffer())
    }

    @Test func everythingFitsIntoThePacketsOfAnIPv6Tunnel() throws {
        let call = try VirtualCall(
            seed: 34, kioskAddresses: [SocketAddress("2001:db8::1", 5_000)],
            providerAddresses: [SocketAddress("2001:db8::2", 6_000)])
        call.network.link.mtu = 1_280
        try call.connect()
        call.speakBothWays(for: .seconds(1))
        #expect(call.kiosk.played.count == 50)
    }
}
