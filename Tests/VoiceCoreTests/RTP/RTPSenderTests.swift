import Testing

@testable import Support
@testable import VoiceCore

@Suite struct RTPSenderTests {
    private let start = Instant(nanoseconds: 7_000_000_000)

    /// Sends packets of 20 ms and gives their headers.
    private func send(_ count: Int, from sender: inout RTPSender, marker: Bool = false) -> [RTPHeader] {
        var headers: [RTPHeader] = []
        withUnsafeTemporaryAllocation(byteCount: 200, alignment: 1) { buffer in
            for index in 0..<count {
                let payload: [UInt8] = Array(repeating: UInt8(truncatingIfNeeded: index), count: 30)
                let size = payload.withUnsafeBytes {
                    sender.packet(
                        payload: $0, payloadType: 111, sampleCount: 960, marker: marker, into: buffer,
                        at: start + .milliseconds(20 * index))
                }
                guard let size, let header = try? RTPHeader(parsing: UnsafeRawBufferPointer(rebasing: buffer[..<size]))
                else { continue }
                #expect(buffer[header.payload].elementsEqual(payload))
                headers.append(header)
            }
        }
        return headers
    }

    @Test func packetsAreNumberedAndTimedInOrderAcrossBothWraps() {
        var sender = RTPSender(entropy: .seeded(3))
        let headers = send(70_000, from: &sender)
        #expect(headers.count == 70_000)
        for (a, b) in zip(headers, headers.dropFirst()) {
            guard b.sequenceNumber == a.sequenceNumber &+ 1, b.timestamp == a.timestamp &+ 960, b.ssrc == sender.ssrc,
                b.payloadType == 111
            else {
                Issue.record("\(a) is followed by \(b)")
                return
            }
        }
        #expect(sender.packetCount == 70_000)
        #expect(sender.octetCount == 2_100_000)
    }

    @Test func streamsStartAtRandom() {
        let starts = (1...20).map { seed in
            var sender = RTPSender(entropy: .seeded(UInt64(seed)))
            return send(1, from: &sender)[0]
        }
        #expect(Set(starts.map(\.ssrc)).count == 20)
        #expect(Set(starts.map(\.timestamp)).count == 20)
        #expect(Set(starts.map(\.sequenceNumber)).count > 18)
        #expect(starts.allSatisfy { $0.sequenceNumber < 0x8000 })
    }

    @Test func aBufferTooSmallTakesAndCountsNothing() {
        var sender = RTPSender(entropy: .seeded(1))
        let first = send(1, from: &sender)[0]
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { buffer in
            let payload = [UInt8](repeating: 0, count: 9)
            let size = payload.withUnsafeBytes {
                sender.packet(
                    payload: $0, payloadType: 111, sampleCount: 960, marker: false, into: buffer, at: start)
            }
            #expect(size == nil)
        }
        #expect(sender.packetCount == 1)
        #expect(send(1, from: &sender)[0].sequenceNumber == first.sequenceNumber &+ 1)
    }

    @Test func skippedSoundMovesTheTimestampAndNoSequenceNumber() {
        var sender = RTPSender(entropy: .seeded(1))
        let first = send(1, from: &sender)[0]
        sender.skip(sampleCount: 4800)
        let second = send(1, from: &sender, marker: true)[0]
        #expect(second.timestamp == first.timestamp &+ 5760)
        #expect(second.sequenceNumber == first.sequenceNumber &+ 1)
        #expect(second.marker)
    }

    @Test func theReportMapsTheWallClockToTheStreamsOwn() throws {
        var sender = RTPSender(entropy: .seeded(1))
        let early = sender.senderInfo(unixOffset: .zero, at: start)
        #expect(early == nil)
        let header = send(1, from: &sender)[0]
        // 1,000,000,000.25 s after 1970 on the wall clock, 1.25 s after the packet.
        let report = sender.senderInfo(unixOffset: .milliseconds(999_999_992_000), at: start + .milliseconds(1250))
        let info = try #require(report)
        #expect(info.ntp == NTPTime(seconds: 3_208_988_800 + 0, fraction: 0x4000_0000))
        #expect(info.rtpTimestamp == header.timestamp &+ 60_000)
        #expect(info.packetCount == 1)
        #expect(info.octetCount == 30)
    }

    private func block(_ ssrc: UInt32, answering info: SenderInfo, after delay: Duration) -> ReportBlock {
        ReportBlock(
            ssrc: ssrc, fractionLost: 0, cumulativeLost: 0, extendedSequence: 0, jitter: 0,
            lastSenderReport: info.ntp.middle, delaySinceLastSenderReport: delay.in65536ths)
    }

    @Test func theRoundTripIsWhatTheFarEndDidNotWait() throws {
        var sender = RTPSender(entropy: .seeded(1))
        _ = send(1, from: &sender)
        let report = sender.senderInfo(unixOffset: .seconds(1_000_000), at: start)
        let info = try #require(report)
        let answer = block(sender.ssrc, answering: info, after: .seconds(2))
        let roundTrip = try #require(sender.roundTrip(from: answer, at: start + .milliseconds(2080)))
        #expect(abs((roundTrip - .milliseconds(80)).inSeconds) < 0.00002)
    }

    @Test func noRoundTripComesOfInventedReports() throws {
        var sender = RTPSender(entropy: .seeded(1))
        _ = send(1, from: &sender)
        let report = sender.senderInfo(unixOffset: .seconds(1_000_000), at: start)
        let info = try #require(report)
        let later = start + .seconds(3)
        let good = block(sender.ssrc, answering: info, after: .seconds(1))
        #expect(sender.roundTrip(from: good, at: later) != nil)
        var wrong = good
        wrong.ssrc &+= 1
        #expect(sender.roundTrip(from: wrong, at: later) == nil)
        wrong = good
        wrong.lastSenderReport &+= 1
        #expect(sender.roundTrip(from: wrong, at: later) == nil)
        wrong.lastSenderReport = 0
        #expect(sender.roundTrip(from: wrong, at: later) == nil)
        wrong = good
        wrong.delaySinceLastSenderReport = .max
        #expect(sender.roundTrip(from: wrong, at: later) == nil)
    }

    @Test(arguments: [(0, 0), (1_000_000_000, 65536), (5_250_000_000, 344_064), (-1, 0)])
    func delaysAreCountedIn65536ths(nanoseconds: Int, expected: Int) {
        #expect(Duration.nanoseconds(nanoseconds).in65536ths == UInt32(expected))
    }
}
