import Testing

@testable import Support
@testable import VoiceCore

@Suite struct RTPReceiverTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func header(_ sequenceNumber: UInt16, timestamp: UInt32 = 0, ssrc: UInt32 = 5) -> RTPHeader {
        let bytes: [UInt8] = [0x80, 111] + [sequenceNumber.bytes, timestamp.bytes, ssrc.bytes].joined()
        guard let header = bytes.withUnsafeBytes({ try? RTPHeader(parsing: $0) }) else {
            preconditionFailure("a header of the test's own")
        }
        return header
    }

    /// A receiver that has heard these numbers, and what it said to each.
    private func hear(_ sequenceNumbers: [UInt16]) -> (RTPReceiver, [RTPReceiver.Verdict]) {
        var receiver = RTPReceiver(header(sequenceNumbers[0]), at: start)
        let verdicts = sequenceNumbers.map { receiver.receive(header($0), at: start) }
        return (receiver, verdicts)
    }

    /// Numbers heard, the highest extended one, and what is lost in all (RFC 3550 A.3).
    @Test(arguments: [
        ([UInt16(0)], UInt32(0), Int32(0)),
        ([65535, 0, 1], 0x1_0001, 0),
        ([10, 11, 14], 14, 2),
        ([10, 12, 11, 13], 13, 0),
        ([10, 10, 10, 11], 11, -2),
        ([65534, 0, 65535, 2], 0x1_0002, 1),
        ([100, 3099], 3099, 2998),
        ([100, 99, 98, 101], 101, -2),
    ])
    func lossIsWhatWasExpectedLessWhatCame(heard: [UInt16], highest: UInt32, lost: Int32) {
        let (receiver, verdicts) = hear(heard)
        #expect(receiver.extendedSequence == highest)
        #expect(receiver.cumulativeLost == lost)
        #expect(verdicts.allSatisfy { $0 == .accepted })
    }

    @Test func wrapsOfTheSequenceAreCounted() {
        var receiver = RTPReceiver(header(0), at: start)
        for number in 0..<200_000 { _ = receiver.receive(header(UInt16(truncatingIfNeeded: number)), at: start) }
        #expect(receiver.extendedSequence == 199_999)
        #expect(receiver.cumulativeLost == 0)
    }

    /// RFC 3550 A.1: a step of 3000 or more, or back by more than 100, counts only once the next number confirms it.
    @Test func aJumpIsBelievedAtItsSecondPacket() {
        let (receiver, verdicts) = hear([100, 101, 5000, 102, 5000, 5001, 5002])
        #expect(verdicts == [.accepted, .accepted, .discarded, .accepted, .discarded, .restarted, .accepted])
        #expect(receiver.extendedSequence == 5002)
        #expect(receiver.cumulativeLost == 0)
    }

    @Test(arguments: [
        (UInt16(3099), RTPReceiver.Verdict.accepted), (3100, .discarded), (1, .accepted), (0, .discarded),
    ])
    func theEdgesOfAJumpAreThoseOfTheRFC(next: UInt16, verdict: RTPReceiver.Verdict) {
        var receiver = RTPReceiver(header(100), at: start)
        _ = receiver.receive(header(100), at: start)
        #expect(receiver.receive(header(next), at: start) == verdict)
    }

    /// RFC 3550 A.3: lost and expected since the report before, in 256ths.
    @Test func theFractionCountsFromReportToReport() {
        var receiver = RTPReceiver(header(0), at: start)
        func hear(_ numbers: [UInt16]) -> ReportBlock {
            for number in numbers { _ = receiver.receive(header(number), at: start) }
            return receiver.reportBlock(at: start)
        }
        var block = hear([0, 1, 2, 4])  // 1 of 5
        #expect(block.fractionLost == 51)
        #expect(block.cumulativeLost == 1)
        block = hear([5, 6, 7, 8])  // none of 4
        #expect(block.fractionLost == 0)
        block = hear([])
        #expect(block.fractionLost == 0)
        block = hear([8, 8, 9])  // more than expected
        #expect(block.fractionLost == 0)
        #expect(block.cumulativeLost == -1)
        block = hear([1010])  // 1000 of 1001
        #expect(block.fractionLost == 255)
        #expect(block.cumulativeLost == 999)
        #expect(block.extendedSequence == 1010)
    }

    @Test func whatIsLostStaysWithinItsTwentyFourBits() {
        var receiver = RTPReceiver(header(0), at: start)
        for index in 0..<4000 {
            _ = receiver.receive(header(UInt16(truncatingIfNeeded: index * 2999)), at: start)
        }
        #expect(receiver.cumulativeLost == 0x7F_FFFF)
    }

    /// RFC 3550 A.8 by hand, in its own integers: J += |D| - ((J + 8) >> 4), reported as J >> 4.
    @Test func jitterFollowsTheRFCsIntegers() {
        var receiver = RTPReceiver(header(0), at: start)
        // Packets of 20 ms; how late each comes, in milliseconds, and the jitter in samples after it.
        // |D| = 0, 480, 480, 0, 1440: scaled 0, 480, 480+480-30=930, 930-58=872, 872+1440-55=2257.
        let table: [(late: Int, jitter: UInt32)] = [(0, 0), (0, 0), (10, 30), (0, 58), (0, 54), (30, 141)]
        for (index, row) in table.enumerated() {
            let packet = header(UInt16(index), timestamp: UInt32(truncatingIfNeeded: 0xFFFF_FC40 + 960 * index))
            _ = receiver.receive(packet, at: start + .milliseconds(20 * index + row.late))
            #expect(receiver.jitter == row.jitter, "packet \(index)")
        }
    }

    @Test func jitterSettlesAtTheMeanDifference() {
        var receiver = RTPReceiver(header(0), at: start)
        for index in 0..<2000 {
            let packet = header(UInt16(index), timestamp: UInt32(960 * index))
            _ = receiver.receive(packet, at: start + .milliseconds(20 * index + (index % 2) * 10))
        }
        #expect((478...480).contains(receiver.jitter))
    }

    @Test func theBlockAnswersTheLastSenderReport() {
        var receiver = RTPReceiver(header(0), at: start)
        _ = receiver.receive(header(0), at: start)
        #expect(receiver.reportBlock(at: start).lastSenderReport == 0)
        #expect(receiver.reportBlock(at: start + .seconds(1)).delaySinceLastSenderReport == 0)
        let info = SenderInfo(
            ntp: NTPTime(seconds: 0x1234_5678, fraction: 0x9ABC_DEF0), rtpTimestamp: 0, packetCount: 0, octetCount: 0)
        receiver.receive(info, at: start)
        let block = receiver.reportBlock(at: start + .milliseconds(5250))
        // RFC 3550 6.4.1 has this very delay in its example: 5.250 s is 0x00054000.
        #expect(block.delaySinceLastSenderReport == 0x0005_4000)
        #expect(block.lastSenderReport == 0x5678_9ABC)
    }

    @Test func noSequenceOfHeadersTraps() {
        var entropy = Entropy.seeded(4)
        var receiver = RTPReceiver(header(0), at: start)
        var now = start
        for _ in 0..<50_000 {
            let bits = entropy.next()
            now = now + .nanoseconds(Int64(bits & 0xFFF_FFFF))
            let packet = header(
                UInt16(truncatingIfNeeded: bits), timestamp: UInt32(truncatingIfNeeded: entropy.next()))
            _ = receiver.receive(packet, at: now)
            if bits & 0x700 == 0 { _ = receiver.reportBlock(at: now) }
        }
        #expect(receiver.receivedCount > 0)
    }
}

@Suite struct RTPReceiversTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func header(_ ssrc: UInt32, _ sequenceNumber: UInt16) throws -> RTPHeader {
        let bytes: [UInt8] = [0x80, 111] + [sequenceNumber.bytes, UInt32(0).bytes, ssrc.bytes].joined()
        return try bytes.withUnsafeBytes { try RTPHeader(parsing: $0) }
    }

    @Test func aNewSSRCIsHeardAtOnceAndTheOldOneNoLonger() throws {
        var receivers = RTPReceivers()
        #expect(receivers.reportBlock(at: start) == nil)
        #expect(receivers.receive(try header(1, 10), at: start) == .heard)
        #expect(receivers.receive(try header(2, 7000), at: start) == .heard)
        #expect(receivers.receive(try header(1, 11), at: start) == .superseded)
        #expect(receivers.receive(try header(2, 7001), at: start) == .heard)
        #expect(receivers.ssrc == 2)
        #expect(receivers.reportBlock(at: start)?.ssrc == 2)
    }

    @Test func theOldOneComesBackWhenTheNewOneIsStill() throws {
        var receivers = RTPReceivers()
        _ = receivers.receive(try header(1, 10), at: start)
        _ = receivers.receive(try header(2, 20), at: start)
        #expect(receivers.receive(try header(1, 11), at: start + .milliseconds(999)) == .superseded)
        #expect(receivers.receive(try header(1, 12), at: start + .seconds(1)) == .heard)
    }

    @Test func theTableForgetsWhoWasStillLongest() throws {
        var receivers = RTPReceivers()
        for ssrc in 1...4 { _ = receivers.receive(try header(UInt32(ssrc), 1), at: start + .milliseconds(ssrc)) }
        _ = receivers.receive(try header(1, 2), at: start + .milliseconds(10))
        _ = receivers.receive(try header(5, 1), at: start + .milliseconds(11))  // takes the place of 2
        let info = SenderInfo(
            ntp: NTPTime(seconds: 1, fraction: 0), rtpTimestamp: 0, packetCount: 0, octetCount: 0)
        receivers.receive(info, from: 2, at: start)
        #expect(receivers.receive(try header(1, 3), at: start + .milliseconds(12)) == .superseded)
        #expect(receivers.receive(try header(2, 2), at: start + .milliseconds(13)) == .heard)  // a stranger again
    }
}

extension FixedWidthInteger {
    /// Big endian.
    var bytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
