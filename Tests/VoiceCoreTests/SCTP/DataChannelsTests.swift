import Testing

@testable import Support
@testable import VoiceCore

struct DataChannelsTests {
    /// Two sides on a line without delay; what one says the other hears at once, until both are silent.
    private final class Line {
        var sides: [DataChannels]
        var events: [[DataChannelEvent]] = [[], []]
        var now = Instant(nanoseconds: 1_000_000_000)

        init(messageLimit: Int = 262_144) {
            sides = [true, false].map { (isClient: Bool) in
                DataChannels(
                    isDTLSClient: isClient, localPort: 5_000, remotePort: 5_000, largestPacket: 1_160,
                    messageLimit: messageLimit, largestMessage: 262_144, roundTrip: nil,
                    entropy: .seeded(isClient ? 1 : 2))
            }
        }

        func settle() {
            var buffer = [UInt8](repeating: 0, count: 1_160)
            var isBusy = true
            while isBusy {
                isBusy = false
                for side in 0...1 {
                    while let count = buffer.withUnsafeMutableBytes({ sides[side].nextPacket(into: $0, at: now) }) {
                        isBusy = true
                        buffer.withUnsafeBytes {
                            sides[1 - side].receive(UnsafeRawBufferPointer(rebasing: $0[..<count]), at: now)
                        }
                    }
                    while let event = sides[side].nextEvent() { events[side].append(event) }
                }
            }
        }

        func start() {
            for side in 0...1 { sides[side].start(at: now) }
            settle()
        }

        func messages(_ side: Int) -> [DataChannelEvent] {
            events[side].filter { if case .message = $0 { true } else { false } }
        }
    }

    @Test func bothMayOpenChannelsAndTalkInThem() throws {
        let line = Line()
        try line.sides[0].add(label: "oai-events")
        try line.sides[1].add(label: "theirs")
        line.start()
        #expect(line.events[0].contains(.opened(label: "oai-events")))
        #expect(line.events[0].contains(.opened(label: "theirs")))
        #expect(Set(line.events[0].map { "\($0)" }) == Set(line.events[1].map { "\($0)" }))
        try line.sides[1].send(Array("{}".utf8), isText: true, label: "oai-events")
        try line.sides[0].send([1, 2], isText: false, label: "theirs")
        try line.sides[0].send([], isText: true, label: "theirs")
        try line.sides[0].send([], isText: false, label: "theirs")
        line.settle()
        #expect(line.messages(0) == [.message(label: "oai-events", isText: true, bytes: Array("{}".utf8))])
        let expected: [DataChannelEvent] = [
            .message(label: "theirs", isText: false, bytes: [1, 2]),
            .message(label: "theirs", isText: true, bytes: []), .message(label: "theirs", isText: false, bytes: []),
        ]
        #expect(line.messages(1) == expected)
    }

    @Test func messagesMayFollowBeforeTheChannelIsAnswered() throws {
        let line = Line()
        try line.sides[0].add(label: "a")
        try line.sides[0].send([1], isText: false, label: "a")
        line.start()
        #expect(line.messages(1) == [.message(label: "a", isText: false, bytes: [1])])
    }

    @Test(arguments: [0, 1])
    func aChannelThatOneClosesIsClosedForBothAndItsStreamIsFreeAgain(_ closer: Int) throws {
        let line = Line()
        try line.sides[0].add(label: "a")
        line.start()
        for round in 0..<3 {
            line.sides[closer].close(label: "a")
            line.settle()
            for side in 0...1 {
                #expect(line.events[side].filter { $0 == .closed(label: "a") }.count == round + 1)
            }
            #expect(throws: SCTPSendError.notOpen) { try line.sides[0].send([1], isText: true, label: "a") }
            try line.sides[0].add(label: "a")
            try line.sides[0].send([UInt8(round)], isText: true, label: "a")
            line.settle()
            #expect(line.messages(1).last == .message(label: "a", isText: true, bytes: [UInt8(round)]))
        }
    }

    @Test func anEndTellsEveryChannelOnce() throws {
        let line = Line()
        try line.sides[0].add(label: "a")
        try line.sides[1].add(label: "b")
        line.start()
        line.sides[0].abort()
        line.settle()
        for side in 0...1 {
            let ends = line.events[side].suffix(3)
            #expect(ends.contains(.closed(label: "a")))
            #expect(ends.contains(.closed(label: "b")))
        }
        #expect(line.events[0].last == .ended(.aborted))
        #expect(line.events[1].last == .ended(.abortedByPeer(cause: 12)))
        #expect(throws: SCTPSendError.notOpen) { try line.sides[0].send([1], isText: true, label: "a") }
    }

    @Test func aMessageThatThePeerDoesNotTakeIsNotSent() throws {
        let line = Line(messageLimit: 100)
        try line.sides[0].add(label: "a")
        line.start()
        #expect(throws: SCTPSendError.tooLong(limit: 100)) {
            try line.sides[0].send([UInt8](repeating: 0, count: 101), isText: false, label: "a")
        }
        try line.sides[0].send([UInt8](repeating: 0, count: 100), isText: false, label: "a")
    }

    @Test func aPeerThatOpensWithoutEndIsRefused() throws {
        let line = Line()
        line.start()
        for number in 0..<64 { try line.sides[0].add(label: "\(number)") }
        line.settle()
        // One more, made below the channels' own bound.
        #expect(throws: SCTPSendError.queueFull) { try line.sides[0].add(label: "65") }
        #expect(throws: SCTPSendError.queueFull) { try line.sides[1].add(label: "x") }
        #expect(line.events[1].filter { if case .opened = $0 { true } else { false } }.count == 64)
    }

    @Test func openMessagesAreReadAsTheyAreMeant() {
        let label = "oai-events"
        #expect(
            DCEPMessage(DCEPMessage.opening(isUnordered: false, label: label).encoded)
                == .opening(isUnordered: false, label: label))
        #expect(DCEPMessage(DCEPMessage.ack.encoded) == .ack)
        // RFC 8832 5.1: each kind, with priority, reliability and a protocol's name.
        for kind: UInt8 in [0, 1, 2, 0x80, 0x81, 0x82] {
            let bytes: [UInt8] = [3, kind, 1, 0, 0, 0, 0, 5, 0, 1, 0, 2, 97, 98, 99]
            #expect(DCEPMessage(bytes) == .opening(isUnordered: kind >= 0x80, label: "a"))
        }
        let bad: [[UInt8]] = [
            [], [0], [3], [4], [3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 97],
            [3, 0, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0] + [UInt8](repeating: 97, count: 65_535),
        ]
        for bytes in bad { #expect(DCEPMessage(bytes) == nil) }
    }
}
