import Testing

@testable import Support
@testable import VoiceCore

/// Messages on a line that loses, reorders and repeats.
struct SCTPTransferTests {
    @Test(arguments: [0.0, 0.05, 0.2])
    func longMessagesArriveBothWays(_ loss: Double) throws {
        for seed in UInt64(1)...2 {
            let pair = SCTPPair(seed: seed, largestPacket: 1_160)
            #expect(pair.connect())
            pair.line = SCTPPair.Line(jitter: .milliseconds(5), loss: loss, duplication: 0.05)
            let messages = (0..<3).map { SCTPPair.bytes(262_144, seed: $0) }
            for message in messages {
                try pair.send(message, from: 0, stream: 0)
                try pair.send(message, from: 1, stream: 5, unordered: true)
            }
            let isDone = pair.run(
                until: { pair.messages.allSatisfy { $0.count == 3 } }, within: .seconds(120))
            #expect(isDone)
            #expect(pair.messages[1].map(\.bytes) == messages)
            #expect(Set(pair.messages[0].map(\.bytes)) == Set(messages))
            #expect(pair.sides.allSatisfy { $0.reassembly.heldByteCount == 0 })
        }
    }

    @Test(arguments: [0.0, 0.05, 0.2])
    func thousandsOfShortMessagesArriveInOrder(_ loss: Double) throws {
        let pair = SCTPPair(seed: 9)
        #expect(pair.connect())
        pair.line = SCTPPair.Line(jitter: .milliseconds(10), loss: loss, duplication: 0.05)
        for number in 0..<4_000 {
            let bytes = [UInt8(number & 0xFF), UInt8(number >> 8)]
            try pair.sides[number % 2].send(SCTPMessage(stream: UInt16(number / 2 % 8), protocolID: 53, bytes: bytes))
            // Some leave on their own, most in company.
            if number % 97 < 10 { pair.flush() }
        }
        pair.flush()
        #expect(pair.run(until: { pair.messages.allSatisfy { $0.count == 2_000 } }, within: .seconds(60)))
        for messages in pair.messages {
            for stream in UInt16(0)..<8 {
                let numbers = messages.filter { $0.stream == stream }.map { Int($0.bytes[0]) | Int($0.bytes[1]) << 8 }
                #expect(numbers == numbers.sorted())
            }
        }
    }

    @Test func withoutLossNothingIsSentTwiceAndEverySecondPacketIsAcknowledged() throws {
        let pair = SCTPPair()
        #expect(pair.connect())
        try pair.send(SCTPPair.bytes(200_000), from: 0)
        #expect(pair.run(until: { pair.messages[1].count == 1 && pair.sides[0].sender.isIdle }, within: .seconds(10)))
        let data = pair.sent[0].filter { HandMade.types($0).contains(SCTPChunkType.data) }
        #expect(data.count == (200_000 + 1_131) / 1_132)
        #expect(pair.sides[1].statistics.duplicates == 0)
        let sacks = pair.sent[1].filter { HandMade.types($0) == [SCTPChunkType.sack] }
        #expect((data.count / 2...data.count * 3 / 4).contains(sacks.count))
    }

    @Test func aSingleLossIsRepairedWithinTwoRoundTripsAndWithoutTheTimer() throws {
        let pair = SCTPPair()
        #expect(pair.connect())
        var number = 0
        pair.tamper = { bytes, side in
            guard side == 0, HandMade.types(bytes).contains(SCTPChunkType.data) else { return bytes }
            number += 1
            return number == 3 ? nil : bytes
        }
        let start = pair.now
        try pair.send(SCTPPair.bytes(9_000), from: 0)
        #expect(pair.run(until: { pair.messages[1].count == 1 }, within: .seconds(10)))
        #expect(pair.now - start <= .milliseconds(40))
        #expect(number == 9)
    }

    @Test func aLossAtTheEndIsRepairedByTheTimer() throws {
        let pair = SCTPPair()
        #expect(pair.connect())
        var hasLost = false
        pair.tamper = { bytes, side in
            guard side == 0, !hasLost, HandMade.types(bytes).contains(SCTPChunkType.data) else { return bytes }
            hasLost = true
            return nil
        }
        let start = pair.now
        try pair.send([1], from: 0)
        #expect(pair.run(until: { pair.messages[1].count == 1 }, within: .seconds(10)))
        #expect(pair.now - start <= .milliseconds(220))
    }

    @Test func aPathThatIsGoneForTwentySecondsIsUsedAgainWithinThree() throws {
        let pair = SCTPPair()
        #expect(pair.connect())
        pair.line.loss = 1
        try pair.send(SCTPPair.bytes(50_000), from: 0)
        pair.run(.seconds(20))
        pair.line.loss = 0
        #expect(pair.run(until: { pair.messages[1].count == 1 }, within: .seconds(4)))
    }

    @Test func aLoneMessageIsAcknowledgedAtOnceWhereTheSenderAsksForIt() throws {
        let pair = SCTPPair()
        #expect(pair.connect())
        let start = pair.now
        try pair.send([1], from: 0)
        #expect(pair.run(until: { pair.sides[0].sender.isIdle }, within: .seconds(1)))
        #expect(pair.now - start == .milliseconds(20))
    }

    @Test func theSendQueueIsBoundedAndSaysSo() throws {
        let pair = SCTPPair()
        pair.line.loss = 1
        var count = 0
        #expect(throws: SCTPSendError.queueFull) {
            while true {
                try pair.send(SCTPPair.bytes(100_000), from: 0)
                count += 1
            }
        }
        #expect(count == 20)
        var small = 0
        while (try? pair.sides[0].send(SCTPMessage(stream: 0, protocolID: 53, bytes: [1]))) != nil { small += 1 }
        #expect(small < 2_000)
    }

    @Test func streamsBeginAnewAfterAReset() throws {
        for seed in UInt64(1)...10 {
            let pair = SCTPPair(seed: seed)
            #expect(pair.connect())
            pair.line = SCTPPair.Line(jitter: .milliseconds(5), loss: 0.2)
            try pair.send(SCTPPair.bytes(5_000), from: 0, stream: 3)
            try pair.send([7], from: 0, stream: 4)
            pair.sides[0].reset(3)
            pair.flush()
            let isReset = pair.run(
                until: { pair.events[0].contains(.outgoingReset([3])) }, within: .seconds(30))
            #expect(isReset)
            #expect(pair.events[1].contains(.incomingReset([3])))
            try pair.send([8], from: 0, stream: 3)
            try pair.send([9], from: 0, stream: 4)
            #expect(pair.run(until: { pair.messages[1].count == 4 }, within: .seconds(30)))
            #expect(pair.messages[1].suffix(2).map(\.bytes).sorted { $0[0] < $1[0] } == [[8], [9]])
        }
    }

    @Test func messagesThatThePeerGivesUpAreSkipped() throws {
        let pair = SCTPPair()
        #expect(pair.connect())
        let tag = pair.sides[0].localTag
        let next = pair.sides[0].received.cumulative &+ 1
        pair.deliver(HandMade.packet(tag: tag, [HandMade.data(next, sequence: 0, [0])]), to: 0)
        pair.deliver(HandMade.packet(tag: tag, [HandMade.data(next &+ 2, sequence: 2, [2])]), to: 0)
        #expect(pair.messages[0].map(\.bytes) == [[0]])
        let forward = HandMade.big(next &+ 1) + HandMade.big(UInt16(0)) + HandMade.big(UInt16(1))
        pair.deliver(HandMade.packet(tag: tag, [(SCTPChunkType.forwardTSN, 0, forward)]), to: 0)
        #expect(pair.messages[0].map(\.bytes) == [[0], [2]])
        let sack = try #require(pair.sent[0].last)
        #expect(HandMade.chunks(sack)[0].value.prefix(4) == HandMade.big(next &+ 2)[...])
    }
}

/// Peers that announce nonsense, or want to make memory grow.
struct SCTPHostileTests {
    private func connected() -> SCTPPair {
        let pair = SCTPPair(largestMessage: 262_144)
        #expect(pair.connect())
        pair.run(.seconds(1))
        return pair
    }

    @Test func anAcknowledgementOfWhatWasNeverSentEndsIt() {
        let pair = connected()
        let tag = pair.sides[0].localTag
        pair.deliver(HandMade.packet(tag: tag, [HandMade.sack(pair.sides[0].sender.nextTSN &+ 5)]), to: 0)
        #expect(pair.events[0].last == .ended(.peerAtFault))
        #expect(pair.sent[0].last.map(HandMade.types) == [SCTPChunkType.abort])
    }

    @Test func wildGapBlocksDoNoHarm() throws {
        let pair = connected()
        let tag = pair.sides[0].localTag
        pair.line.loss = 1
        try pair.send(SCTPPair.bytes(100_000), from: 0)
        let cumulative = pair.sides[0].sender.nextTSN &- 11
        let wild: [[(UInt16, UInt16)]] = [
            [(0, 0)], [(5, 1)], [(1, 65_535)], [(9, 9), (2, 3), (1, 1)], Array(repeating: (1, 65_535), count: 280),
            (0..<280).map { (UInt16($0 * 2), UInt16($0 * 2)) },
        ]
        for gaps in wild {
            pair.deliver(HandMade.packet(tag: tag, [HandMade.sack(cumulative, gaps: gaps)]), to: 0)
            pair.deliver(HandMade.packet(tag: tag, [HandMade.sack(cumulative, window: 0)]), to: 0)
        }
        pair.line.loss = 0
        #expect(pair.run(until: { pair.messages[1].count == 1 }, within: .seconds(20)))
    }

    @Test func aWindowOfNothingIsProbedAndAHugeOneIsNotBelieved() throws {
        let pair = connected()
        let tag = pair.sides[0].localTag
        pair.line.loss = 1
        pair.deliver(HandMade.packet(tag: tag, [HandMade.sack(pair.sides[0].sender.lastTSN, window: 0)]), to: 0)
        try pair.send(SCTPPair.bytes(100_000), from: 0)
        let count = pair.sent[0].count
        pair.run(.seconds(10))
        // One chunk at a time, ever more seldom.
        #expect((3...10).contains(pair.sent[0].count - count))

        let other = connected()
        other.line.loss = 1
        let huge = HandMade.sack(other.sides[0].sender.lastTSN, window: .max)
        other.deliver(HandMade.packet(tag: other.sides[0].localTag, [huge]), to: 0)
        for _ in 0..<4 { try other.send(SCTPPair.bytes(250_000), from: 0) }
        let burst = other.sent[0].reduce(0) { $0 + $1.count }
        #expect(burst < 20 * 1_160)
    }

    @Test func whatAPeerSendsOutOfOrderIsHeldOnlyToTheBound() {
        let pair = connected()
        let tag = pair.sides[0].localTag
        let next = pair.sides[0].received.cumulative &+ 1
        let payload = [UInt8](repeating: 1, count: 1_000)
        for offset in UInt32(1)...3_000 {
            let chunk = HandMade.data(next &+ offset, sequence: UInt16(offset), payload)
            pair.deliver(HandMade.packet(tag: tag, [chunk]), to: 0)
        }
        #expect(pair.sides[0].reassembly.heldByteCount <= SCTPAssociation.receiveCapacity)
        #expect(pair.sides[0].statistics.noRoom > 1_000)
        let window = pair.sent[0].last.map { Array(HandMade.chunks($0)[0].value[4..<8]) }
        #expect(window.map { $0[0] == 0 && $0[1] == 0 } == true)
        // What is held is given up as soon as the missing one is there.
        pair.deliver(HandMade.packet(tag: tag, [HandMade.data(next, sequence: 0, payload)]), to: 0)
        #expect(pair.messages[0].count > 900)
        #expect(pair.sides[0].reassembly.heldByteCount == 0)
    }

    @Test func aMessageLargerThanAgreedEndsIt() {
        let pair = connected()
        let tag = pair.sides[0].localTag
        let next = pair.sides[0].received.cumulative &+ 1
        let payload = [UInt8](repeating: 1, count: 1_000)
        for offset in UInt32(0)..<400 where pair.sides[0].phase != .ended {
            let chunk = HandMade.data(next &+ offset, flags: offset == 0 ? 2 : 0, payload)
            pair.deliver(HandMade.packet(tag: tag, [chunk]), to: 0)
        }
        #expect(pair.events[0].last == .ended(.peerAtFault))
    }

    @Test func streamsBeyondTheAgreedAndChunksWithoutDataAreNotTaken() {
        let pair = connected()
        let tag = pair.sides[0].localTag
        let next = pair.sides[0].received.cumulative &+ 1
        pair.deliver(HandMade.packet(tag: tag, [HandMade.data(next, stream: 60_000, [1])]), to: 0)
        #expect(pair.messages[0].isEmpty)
        #expect(pair.sides[0].received.cumulative == next)
        pair.deliver(HandMade.packet(tag: tag, [HandMade.data(next &+ 1, [])]), to: 0)
        #expect(pair.events[0].last == .ended(.peerAtFault))
    }

    @Test func resetsOfTheWildKindAreDeniedOrPassedOver() {
        let pair = connected()
        let tag = pair.sides[0].localTag
        let values: [[UInt8]] = [
            [], [0], [0, 13, 0, 4], [0, 13, 255, 255], [0, 14, 0, 8, 0, 0, 0, 1], [0, 15, 0, 8, 0, 0, 0, 1],
            [0, 17, 0, 12, 0, 0, 0, 1, 255, 255, 0, 0], [0, 16, 0, 12, 9, 9, 9, 9, 0, 0, 0, 1],
            [0, 13, 0, 16, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
        for value in values {
            pair.deliver(HandMade.packet(tag: tag, [(SCTPChunkType.reconfiguration, 0, value)]), to: 0)
        }
        #expect(pair.sides[0].phase == .established)
        #expect(pair.events[0] == [.established])
    }
}
