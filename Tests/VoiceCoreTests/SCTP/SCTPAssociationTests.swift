import Testing

@testable import Support
@testable import VoiceCore

/// The handshake, its collisions, and the end.
struct SCTPAssociationTests {
    @Test func bothBeginAtOnceAndAreEstablishedInTwoRoundTrips() {
        let pair = SCTPPair()
        let start = pair.now
        #expect(pair.connect())
        #expect(pair.now - start <= .milliseconds(40))
        #expect(pair.events.allSatisfy { $0 == [.established] })
        // INIT, INIT ACK, COOKIE ECHO, COOKIE ACK from each.
        #expect(pair.sent.allSatisfy { $0.count == 4 })
    }

    @Test func theFirstMessageLeavesOneRoundTripAfterTheStartAndIsAcknowledgedAfterTwo() throws {
        let pair = SCTPPair()
        let start = pair.now
        try pair.send([1, 2, 3], from: 0)
        #expect(pair.connect())
        let index = try #require(pair.sent[0].firstIndex { HandMade.types($0).contains(SCTPChunkType.data) })
        #expect(HandMade.types(pair.sent[0][index]) == [SCTPChunkType.cookieEcho, SCTPChunkType.data])
        #expect(pair.sentAt[0][index] - start == .milliseconds(20))
        #expect(pair.run(until: { pair.sides[0].sender.isIdle }, within: .seconds(1)))
        #expect(pair.now - start <= .milliseconds(40))
        #expect(pair.messages[1].map(\.bytes) == [[1, 2, 3]])
    }

    @Test func oneSideMayBeginAlone() {
        let pair = SCTPPair()
        pair.sides[0].start(at: pair.now)
        pair.flush()
        let isUp = pair.run(
            until: { pair.sides.allSatisfy { $0.phase == .established } }, within: .seconds(1))
        #expect(isUp)
        #expect(pair.sent[0].count == 2)
        #expect(pair.sent[1].count == 2)
    }

    @Test(arguments: [0.05, 0.2, 0.4])
    func theHandshakeSurvivesLoss(_ loss: Double) {
        for seed in UInt64(1)...40 {
            let pair = SCTPPair(seed: seed)
            pair.line = SCTPPair.Line(jitter: .milliseconds(15), loss: loss, duplication: 0.2)
            #expect(pair.connect())
        }
    }

    @Test func withoutAnAnswerItEnds() {
        let pair = SCTPPair()
        pair.line.loss = 1
        pair.sides[0].start(at: pair.now)
        pair.flush()
        #expect(pair.run(until: { pair.sides[0].phase == .ended }, within: .seconds(60)))
        #expect(pair.events[0] == [.ended(.noAnswer)])
        #expect(pair.sent[0].count == 9)
    }

    @Test func shutdownLosesNothingAndEndsBoth() throws {
        for seed in UInt64(1)...20 {
            let pair = SCTPPair(seed: seed)
            #expect(pair.connect())
            pair.line = SCTPPair.Line(jitter: .milliseconds(15), loss: 0.2, duplication: 0.1)
            let bytes = SCTPPair.bytes(20_000)
            try pair.send(bytes, from: 0)
            pair.sides[0].shutdown(at: pair.now)
            pair.flush()
            // Where SHUTDOWN COMPLETE is lost, the other side asks until it gives up.
            #expect(pair.run(until: { pair.sides.allSatisfy { $0.phase == .ended } }, within: .seconds(60)))
            #expect(pair.messages[1].map(\.bytes) == [bytes])
            #expect(pair.events[0].last == .ended(.shutDown))
            #expect(throws: SCTPSendError.notOpen) { try pair.send([1], from: 0) }
        }
    }

    @Test func bothMayShutDownAtOnce() {
        let pair = SCTPPair()
        #expect(pair.connect())
        for side in 0...1 { pair.sides[side].shutdown(at: pair.now) }
        pair.flush()
        #expect(pair.run(until: { pair.sides.allSatisfy { $0.phase == .ended } }, within: .seconds(2)))
        #expect(pair.events.allSatisfy { $0.last == .ended(.shutDown) })
    }

    @Test func abortEndsTheOtherSideToo() {
        let pair = SCTPPair()
        #expect(pair.connect())
        pair.sides[0].abort()
        pair.flush()
        pair.run(.milliseconds(100))
        #expect(pair.events[0].last == .ended(.aborted))
        #expect(pair.events[1].last == .ended(.abortedByPeer(cause: 12)))
        #expect(pair.sides.allSatisfy { $0.deadline == nil })
    }

    /// RFC 9260 5.2.4, A: a side that has lost its state begins anew over the same DTLS association.
    @Test func aPeerThatBeginsAnewIsFollowed() throws {
        let pair = SCTPPair()
        #expect(pair.connect())
        try pair.send([1], from: 0)
        pair.run(.milliseconds(200))
        pair.sides[1] = SCTPAssociation(
            localPort: 5_000, remotePort: 5_000, largestPacket: 1_160, largestMessage: 1_000, roundTrip: nil,
            entropy: .seeded(99))
        pair.sides[1].start(at: pair.now)
        pair.flush()
        #expect(pair.run(until: { pair.sides[1].phase == .established }, within: .seconds(2)))
        #expect(pair.events[0].last == .restarted)
        try pair.send([2], from: 0)
        try pair.send([3], from: 1)
        pair.run(.milliseconds(200))
        #expect(pair.messages[1].map(\.bytes) == [[1], [2]])
        #expect(pair.messages[0].map(\.bytes) == [[3]])
    }

    @Test func heartbeatsAreSentInSilenceAndAnswered() {
        let pair = SCTPPair()
        #expect(pair.connect())
        pair.run(.seconds(100))
        let beats = pair.sent[0].filter { HandMade.types($0) == [SCTPChunkType.heartbeat] }
        let answers = pair.sent[1].filter { HandMade.types($0) == [SCTPChunkType.heartbeatAck] }
        #expect((3...4).contains(beats.count))
        #expect(answers.count == beats.count)
    }

    @Test func aForgedCookieIsDroppedAndAStaleOneAnsweredByAnError() throws {
        let pair = SCTPPair()
        pair.deliver(HandMade.packet(tag: 0, [HandMade.initiation(tag: 77)]), to: 1)
        let answer = try #require(pair.sent[1].last)
        let parameters = HandMade.chunks(answer)[0].value
        let cookie = Array(parameters.suffix(StateCookie.byteCount))
        let tag = pair.sides[1].localTag
        var forged = cookie
        forged[20] ^= 1
        let count = pair.sent[1].count
        pair.deliver(HandMade.packet(tag: tag, [(SCTPChunkType.cookieEcho, 0, forged)]), to: 1)
        #expect(pair.sides[1].statistics.forgedCookies == 1)
        #expect(pair.sent[1].count == count)
        pair.run(.seconds(61))
        pair.deliver(HandMade.packet(tag: tag, [(SCTPChunkType.cookieEcho, 0, cookie)]), to: 1)
        #expect(pair.sides[1].statistics.staleCookies == 1)
        #expect(pair.sent[1].last.map(HandMade.types) == [SCTPChunkType.error])
        #expect(pair.sides[1].phase == .idle)
    }

    @Test func aCookieThatThePeerCallsStaleIsAskedForAgain() {
        let pair = SCTPPair()
        var isAway = true
        pair.tamper = { bytes, side in
            isAway && side == 0 && HandMade.types(bytes).first == SCTPChunkType.cookieEcho ? nil : bytes
        }
        pair.sides[0].start(at: pair.now)
        pair.flush()
        pair.run(.milliseconds(30))
        #expect(pair.sides[0].phase == .cookieEchoed)
        isAway = false
        let cause: [UInt8] = [0, 3, 0, 8, 0, 0, 0, 1]
        pair.deliver(HandMade.packet(tag: pair.sides[0].localTag, [(SCTPChunkType.error, 0, cause)]), to: 0)
        #expect(pair.sides[0].phase == .cookieWait)
        #expect(pair.run(until: { pair.sides[0].phase == .established }, within: .milliseconds(50)))
    }

    @Test func nothingIsDoneForAStrangersPacket() {
        let pair = SCTPPair()
        #expect(pair.connect())
        let tag = pair.sides[0].localTag
        let count = pair.sent[0].count
        let strange: [[UInt8]] = [
            HandMade.packet(tag: tag &+ 1, [(SCTPChunkType.abort, 0, [])]),
            HandMade.packet(tag: tag, [(SCTPChunkType.abort, 1, [])]),
            HandMade.packet(tag: tag, destination: 5_001, [(SCTPChunkType.abort, 0, [])]),
            HandMade.packet(tag: tag, source: 1, [(SCTPChunkType.abort, 0, [])]),
            HandMade.packet(tag: 5, [HandMade.initiation(tag: 7)]),
            HandMade.packet(tag: 0, [(SCTPChunkType.cookieAck, 0, [])]),
            HandMade.packet(tag: tag, [(SCTPChunkType.shutdownComplete, 0, [])]),
            [], [1], [UInt8](repeating: 0, count: 12),
        ]
        for packet in strange { pair.deliver(packet, to: 0) }
        #expect(pair.sides[0].phase == .established)
        #expect(pair.sent[0].count == count)
    }

    @Test(arguments: [
        (tag: UInt32(0), window: UInt32(9_000), outbound: UInt16(1), inbound: UInt16(1)),
        (tag: UInt32(5), window: UInt32(1_499), outbound: UInt16(1), inbound: UInt16(1)),
        (tag: UInt32(5), window: UInt32(9_000), outbound: UInt16(0), inbound: UInt16(1)),
        (tag: UInt32(5), window: UInt32(9_000), outbound: UInt16(1), inbound: UInt16(0)),
    ])
    func anInitThatMakesNoSenseIsRefused(tag: UInt32, window: UInt32, outbound: UInt16, inbound: UInt16) {
        let pair = SCTPPair()
        let chunk = HandMade.initiation(tag: tag, window: window, outbound: outbound, inbound: inbound)
        pair.deliver(HandMade.packet(tag: 0, [chunk]), to: 0)
        #expect(pair.sent[0].map(HandMade.types) == (tag == 0 ? [] : [[SCTPChunkType.abort]]))
    }

    /// RFC 9260 3.2 and 3.2.1: by the two highest bits of the type.
    @Test func unknownChunksAndParametersAreTreatedByTheirHighestBits() throws {
        let cases: [(type: UInt8, isReported: Bool, goesOn: Bool)] = [
            (0x3F, false, false), (0x7F, true, false), (0xBF, false, true), (0xFF, true, true),
        ]
        for item in cases {
            let pair = SCTPPair()
            #expect(pair.connect())
            pair.run(.seconds(1))
            let tag = pair.sides[0].localTag
            let packet = HandMade.packet(
                tag: tag, [(item.type, 0, [1, 2, 3, 4]), (SCTPChunkType.heartbeat, 0, [0, 1, 0, 8, 9, 9, 9, 9])])
            let count = pair.sent[0].count
            pair.deliver(packet, to: 0)
            let types = pair.sent[0].dropFirst(count).flatMap(HandMade.types)
            #expect(types.contains(SCTPChunkType.error) == item.isReported)
            #expect(types.contains(SCTPChunkType.heartbeatAck) == item.goesOn)
        }
        let parameters: [(type: UInt16, isReported: Bool)] = [
            (0x3FF0, false), (0x7FF0, true), (0xBFF0, false), (0xFFF0, true),
        ]
        for item in parameters {
            let pair = SCTPPair()
            let parameter = HandMade.big(item.type) + HandMade.big(UInt16(8)) + [1, 2, 3, 4]
            pair.deliver(HandMade.packet(tag: 0, [HandMade.initiation(tag: 9, parameters: parameter)]), to: 0)
            let answer = try #require(pair.sent[0].last)
            #expect(HandMade.types(answer) == [SCTPChunkType.initiationAck])
            let tail = Array(HandMade.chunks(answer)[0].value.suffix(8))
            #expect((tail == parameter) == item.isReported)
        }
    }

    @Test func noPacketIsAnsweredByMoreThanOne() {
        let pair = SCTPPair()
        #expect(pair.connect())
        pair.run(.seconds(1))
        let tag = pair.sides[0].localTag
        let beat: (type: UInt8, flags: UInt8, value: [UInt8]) = (SCTPChunkType.heartbeat, 0, [0, 1, 0, 4])
        let unknown: (type: UInt8, flags: UInt8, value: [UInt8]) = (0xFF, 0, [])
        let packets = [
            HandMade.packet(tag: tag, Array(repeating: beat, count: 100)),
            HandMade.packet(tag: tag, Array(repeating: unknown, count: 200)),
            HandMade.packet(tag: 0, Array(repeating: HandMade.initiation(tag: 3), count: 20)),
        ]
        for packet in packets {
            let count = pair.sent[0].count
            pair.deliver(packet, to: 0)
            #expect(pair.sent[0].count - count <= 1)
            #expect(pair.sent[0].dropFirst(count).allSatisfy { $0.count <= packet.count })
        }
    }
}
