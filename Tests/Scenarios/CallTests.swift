import Testing

@testable import Support
@testable import VoiceCore

/// Whole calls between two engines, DTLS included, in virtual time.
@Suite struct CallTests {
    @Test func aCallOnACleanNetworkConnectsAndCarriesEachPacketOnceInOrderBothWays() throws {
        let call = try VirtualCall(seed: 1)
        try call.connect()
        call.speakBothWays(for: .seconds(2))
        for voice in [call.kiosk, call.provider] {
            #expect(voice.played.count == 100)
            #expect(voice.played.map { $0.payload.last } == (1...100).map { UInt8($0) })
            let steps = zip(voice.played, voice.played.dropFirst()).map {
                ($1.sequenceNumber &- $0.sequenceNumber, $1.timestamp &- $0.timestamp)
            }
            #expect(steps.allSatisfy { $0 == (1, 960) })
        }
    }

    @Test(arguments: [5, 25, 50, 100])
    func connectingTakesFiveRoundTripsAfterTheAnswerAtMost(oneWayMilliseconds: Int) throws {
        // One for a check, one to nominate, two for the DTLS handshake of a server, and one way for the first flight.
        let call = try VirtualCall(seed: 2)
        call.network.link.delay = .milliseconds(oneWayMilliseconds)
        let start = call.network.now
        try call.connect()
        let took = try #require(call.kiosk.connectedAt) - start
        #expect(took <= .milliseconds(5 * 2 * oneWayMilliseconds))
    }

    @Test(arguments: 1...20)
    func aCallConnectsInSpiteOfLossJitterAndDuplicates(seed: UInt64) throws {
        let call = try VirtualCall(seed: seed)
        call.network.link = VirtualNetwork.Link(
            delay: .milliseconds(30), jitter: .milliseconds(40), loss: 0.2, duplication: 0.1)
        try call.connect(within: .seconds(20))
        call.speakBothWays(for: .seconds(4))
        #expect(call.kiosk.played.count > 120)
        #expect(call.provider.played.count > 120)
        #expect(Set(call.kiosk.played.map(\.sequenceNumber)).count == call.kiosk.played.count)
    }

    @Test func dtlsThatComesBeforeTheAnswerIsKeptAndUsed() throws {
        let call = try VirtualCall(seed: 3)
        let answer = try call.provider.answer(call.kiosk.offer(), at: call.network.now)
        call.network.run(.milliseconds(300))
        let answeredAt = call.network.now
        try call.kiosk.accept(answer, at: answeredAt)
        call.network.run(until: { call.bothConnected }, within: .seconds(2))
        let connectedAt = try #require(call.kiosk.connectedAt)
        #expect(connectedAt - answeredAt <= .milliseconds(100))
    }

    @Test func aCertificateOtherThanTheDescribedOneFailsAndIsNeverConnected() throws {
        let call = try VirtualCall(seed: 4)
        let answer = try call.provider.answer(call.kiosk.offer(), at: call.network.now)
        let marker = "a=fingerprint:sha-256 "
        let forged = answer.split(separator: "\r\n").map { line in
            line.hasPrefix(marker)
                ? marker + String(line.dropFirst(marker.count).reversed()) : String(line)
        }.joined(separator: "\r\n")
        try call.kiosk.accept(forged, at: call.network.now)
        call.network.run(.seconds(5))
        #expect(!call.kiosk.events.contains(.connected))
        #expect(call.kiosk.played.isEmpty)
        #expect(call.kiosk.hasEnded)
    }

    @Test func closingIsSeenByTheOtherSideWithinARoundTrip() throws {
        let call = try VirtualCall(seed: 5)
        try call.connect()
        let closedAt = call.network.now
        call.kiosk.handle(.close, at: closedAt)
        call.network.run(until: { call.provider.hasEnded }, within: .seconds(5))
        #expect(call.provider.events.last == .closedByPeer)
        #expect(call.network.now - closedAt <= .milliseconds(120))
        call.network.run(.seconds(1))
        #expect(call.kiosk.hasEnded)
    }

    @Test func closingIsSeenAlthoughTwoOfThreeFarewellsAreLost() throws {
        let call = try VirtualCall(seed: 6)
        try call.connect()
        let from = call.network.now
        call.network.tamper = { bytes, _, _ in
            call.network.now - from < .milliseconds(90) && (20...63).contains(bytes[0]) ? nil : bytes
        }
        call.kiosk.handle(.close, at: from)
        call.network.run(.seconds(1))
        #expect(call.provider.events.last == .closedByPeer)
    }

    @Test func aDeadPathIsDisconnectedAfterFiveSecondsAndFailedAfterThirty() throws {
        let call = try VirtualCall(seed: 7)
        try call.connect()
        call.network.run(.seconds(20))
        call.network.link.loss = 1
        let cutAt = call.network.now
        call.network.run(until: { call.kiosk.events.contains(.disconnected) }, within: .seconds(20))
        #expect((call.network.now - cutAt).inSeconds < 5.1)
        #expect((call.network.now - cutAt).inSeconds > 0.1)
        call.network.run(until: { call.kiosk.hasEnded }, within: .seconds(60))
        #expect((24.0...30.2).contains((call.network.now - cutAt).inSeconds))
    }

    @Test func aPathThatComesBackIsConnectedAgainAndGoesOn() throws {
        let call = try VirtualCall(seed: 8)
        try call.connect()
        call.network.link.loss = 1
        call.network.run(.seconds(12))
        #expect(call.kiosk.events.last == .disconnected)
        call.network.link.loss = 0
        call.network.run(.seconds(8))
        #expect(call.kiosk.isConnected)
        call.speakBothWays(for: .seconds(1))
        #expect(call.provider.played.count == 50)
    }

    @Test func reportsTellEachSideHowItsPacketsArrive() throws {
        let call = try VirtualCall(seed: 10)
        try call.connect()
        call.network.tamper = { bytes, from, _ in
            // One in four of the kiosk's RTP packets is lost.
            from == VirtualCall.kioskAddress && bytes[0] >> 6 == 2 && !(192...223).contains(bytes[1])
                && bytes[3] % 4 == 0 ? nil : bytes
        }
        call.speakBothWays(for: .seconds(40))
        let quality = call.kiosk.events.compactMap { event -> SenderQuality? in
            if case .senderReport(let quality) = event { quality } else { nil }
        }
        let last = try #require(quality.last)
        #expect((0.2...0.3).contains(last.fractionLost))
        let roundTrip = try #require(last.roundTrip)
        #expect((.milliseconds(20) ... .microseconds(20_050)).contains(roundTrip))
    }

    @Test func aLostInterfaceIsReplacedByTheOther() throws {
        let call = try VirtualCall(
            seed: 11, kioskAddresses: [VirtualCall.kioskAddress, SocketAddress("198.51.100.7", 5_000)])
        try call.connect()
        call.kiosk.closePath(0, at: call.network.now)
        call.network.run(.seconds(2))
        call.speakBothWays(for: .seconds(1))
        #expect(call.provider.played.count > 40)
    }

    @Test func ipv6Connects() throws {
        let call = try VirtualCall(
            seed: 12, kioskAddresses: [SocketAddress("2001:db8::1", 5_000)],
            providerAddresses: [SocketAddress("2001:db8::2", 6_000)])
        try call.connect()
        #expect(call.bothConnected)
    }

    @Test(arguments: 1...10)
    func aStrangersDatagramsChangeNothing(seed: UInt64) throws {
        let call = try VirtualCall(seed: 100 + seed)
        var entropy = Entropy.seeded(seed)
        let strangers = [SocketAddress("203.0.113.66", 6_666), VirtualCall.providerAddress]
        var seen: [[UInt8]] = []
        call.network.tamper = { bytes, _, _ in
            if seen.count < 200 { seen.append(bytes) }
            return bytes
        }
        let answer = try call.provider.answer(call.kiosk.offer(), at: call.network.now)
        try call.kiosk.accept(answer, at: call.network.now)
        for _ in 0..<100 {
            for _ in 0..<5 {
                var bytes = seen.randomElement(using: &entropy) ?? entropy.bytes(60)
                for _ in 0..<Int.random(in: 1...4, using: &entropy) where !bytes.isEmpty {
                    bytes[Int.random(in: 0..<bytes.count, using: &entropy)] = UInt8.random(in: 0...255, using: &entropy)
                }
                if Bool.random(using: &entropy) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &entropy)) }
                let from = strangers[0]
                call.kiosk.deliver(bytes, from: from, to: VirtualCall.kioskAddress, at: call.network.now)
                call.provider.deliver(bytes, from: from, to: VirtualCall.providerAddress, at: call.network.now)
            }
            call.network.run(.milliseconds(5))
        }
        call.network.run(until: { call.bothConnected }, within: .seconds(10))
        #expect(call.bothConnected)
        call.speakBothWays(for: .seconds(1))
        #expect(call.kiosk.played.count == 50)
        #expect(call.provider.played.count == 50)
    }

    @Test func aVoiceWithoutAPathStillRestsBetweenItsReports() throws {
        let call = try VirtualCall(seed: 51)
        try call.connect()
        call.kiosk.closePath(0, at: call.network.now)
        var now = call.network.now
        while !call.kiosk.hasEnded, now < call.network.now + .seconds(20), let deadline = call.kiosk.deadline {
            now = max(now, deadline)
            call.kiosk.wake(at: now)
            try #require(call.kiosk.deadline.map { $0 > now } ?? true, "a deadline that stays in the past")
        }
        #expect(now >= call.network.now + .seconds(10))
    }
}
