import Testing

@testable import Support
@testable import VoiceCore

@Suite struct RTCPTests {
    private let info = SenderInfo(
        ntp: NTPTime(seconds: 0xE000_0001, fraction: 0x8000_0002), rtpTimestamp: 0xFFFF_FFFE, packetCount: 77,
        octetCount: 4_000_000_000)
    private let blocks = [
        ReportBlock(
            ssrc: 0xAAAA_AAAA, fractionLost: 255, cumulativeLost: -3, extendedSequence: 0x1_FFFF, jitter: 12,
            lastSenderReport: 0x1234_5678, delaySinceLastSenderReport: 99),
        ReportBlock(
            ssrc: 1, fractionLost: 0, cumulativeLost: 0x7F_FFFF, extendedSequence: 0, jitter: .max, lastSenderReport: 0,
            delaySinceLastSenderReport: 0),
    ]

    private func write(capacity: Int = 500, _ body: (inout RTCPWriter) -> Void) -> [UInt8]? {
        withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { buffer in
            var writer = RTCPWriter(into: buffer)
            body(&writer)
            return writer.finish().map { Array(buffer[..<$0]) }
        }
    }

    /// Each part in words, and the error at the end if there is one.
    private func read(_ bytes: [UInt8]) -> [String] {
        bytes.withUnsafeBytes { raw in
            var reader = RTCPReader(raw)
            var parts: [String] = []
            do {
                while let packet = try reader.next() {
                    switch packet {
                    case .senderReport(let ssrc, let info, let blocks):
                        parts.append("SR \(ssrc) \(info == self.info) \(Array(blocks) == self.blocks)")
                    case .receiverReport(let ssrc, let blocks):
                        parts.append("RR \(ssrc) \(Array(blocks).count)")
                    case .sourceDescription: parts.append("SDES")
                    case .goodbye(let sources): parts.append("BYE \(Array(sources))")
                    case .feedback(let type, let format, let media): parts.append("\(type) \(format) \(media)")
                    case .unknown(let type): parts.append("unknown \(type)")
                    }
                }
            } catch {
                parts.append("\(error)")
                if (try? reader.next()) != nil { parts.append("reads on") }
            }
            return parts
        }
    }

    @Test func whatIsWrittenIsReadAgain() throws {
        let bytes = try #require(
            write { writer in
                writer.senderReport(ssrc: 42, info)
                for block in blocks { writer.add(block) }
                writer.sourceDescription(ssrc: 42, cname: Array("abcdefghijklmnop".utf8))
                writer.goodbye(ssrc: 42)
            })
        #expect(read(bytes) == ["SR 42 true true", "SDES", "BYE [42]"])
        #expect(bytes.count == 28 + 48 + 28 + 8)
    }

    @Test func aReceiverReportWithoutBlocksIsWritten() throws {
        let bytes = try #require(
            write { writer in
                writer.receiverReport(ssrc: 0x0102_0304)
                writer.sourceDescription(ssrc: 0x0102_0304, cname: [0x61])
            })
        #expect(bytes == [0x80, 201, 0, 1, 1, 2, 3, 4, 0x81, 202, 0, 2, 1, 2, 3, 4, 1, 1, 0x61, 0])
    }

    /// RFC 3550 6.5: each chunk ends with at least one null and at a whole word.
    @Test(arguments: 0...9) func theNameIsFilledUpToWholeWords(length: Int) throws {
        let bytes = try #require(
            write { $0.sourceDescription(ssrc: 1, cname: Array(repeating: 0x61, count: length)) })
        #expect(bytes.count % 4 == 0)
        #expect(bytes.count == 4 * (Int(bytes[3]) + 1))
        #expect(bytes.last == 0)
        #expect(bytes[9] == UInt8(length))
        #expect(read(bytes) == ["SDES"])
    }

    @Test func aBufferTooSmallGivesNothing() {
        for capacity in 0..<52 {
            #expect(
                write(capacity: capacity) { writer in
                    writer.senderReport(ssrc: 1, info)
                    writer.add(blocks[0])
                } == nil)
        }
    }

    @Test(arguments: [
        // Reduced size (RFC 5506): feedback alone.
        ([UInt8]([0x81, 205, 0, 3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 5, 0, 0]), ["205 1 2"]),
        ([0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 9], ["206 1 9"]),
        // A kind of its own, extended reports, and a goodbye with a reason.
        (
            [
                0x85, 204, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0x80, 207, 0, 1, 0, 0, 0, 1, 0x81, 203, 0, 2, 0, 0, 0, 7, 2,
                0x68, 0x69, 0,
            ],
            ["unknown 204", "unknown 207", "BYE [7]"]
        ),
        // Padding belongs to the last part alone.
        ([0x80, 201, 0, 1, 0, 0, 0, 1, 0xA1, 203, 0, 2, 0, 0, 0, 7, 0, 0, 0, 4], ["RR 1 0", "BYE [7]"]),
        ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0x81, 203, 0, 1, 0, 0, 0, 7], ["badPadding"]),
        ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3], ["badPadding"]),
        ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0], ["badPadding"]),
        ([0xA0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 16], ["badPadding"]),
        ([0xA0, 201, 0, 0], ["badPadding"]),
        // What does not fit ends the reading; what came before it stands.
        ([0x80, 201, 0, 1, 0, 0, 0, 1, 0x80, 201, 0, 2, 0, 0, 0, 1], ["RR 1 0", "truncated"]),
        ([0x81, 201, 0, 1, 0, 0, 0, 1], ["truncated"]),
        ([0x9F, 203, 0, 1, 0, 0, 0, 1], ["truncated"]),
        ([0x80, 200, 0, 1, 0, 0, 0, 1], ["truncated"]),
        ([0x81, 206, 0, 1, 0, 0, 0, 1], ["truncated"]),
        ([0x80, 201, 0, 1, 0, 0, 0, 1, 0x40, 201, 0, 1, 0, 0, 0, 1], ["RR 1 0", "wrongVersion"]),
        ([0x80], ["truncated"]),
        ([], []),
    ])
    func eachPartIsReadOrRefused(bytes: [UInt8], parts: [String]) {
        #expect(read(bytes) == parts)
    }

    @Test func noMutationTraps() throws {
        let whole = try #require(
            write { writer in
                writer.senderReport(ssrc: 42, info)
                for block in blocks { writer.add(block) }
                writer.sourceDescription(ssrc: 42, cname: Array("abcdefghijklmnop".utf8))
                writer.goodbye(ssrc: 42)
            })
        var entropy = Entropy.seeded(2)
        var partCount = 0
        for _ in 0..<10_000 { partCount += read(whole.mutated(by: &entropy)).count }
        #expect(partCount > 10_000)
    }

    @Test func aNameTellsNothingAndIsAnotherEachTime() {
        var entropy = Entropy.seeded(5)
        let names = (0..<50).map { _ in RTCPWriter.cname(from: &entropy) }
        #expect(Set(names).count == 50)
        #expect(names.allSatisfy { $0.count == 16 })
    }
}
