import Testing

@testable import Support
@testable import VoiceCore

@Suite struct RTPHeaderTests {
    private static let fixed: [UInt8] = [0x80, 0xEF, 0x12, 0x34, 1, 2, 3, 4, 0xA, 0xB, 0xC, 0xD]

    private func parse(_ bytes: [UInt8]) throws(RTPError) -> RTPHeader {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: bytes)
        return try RTPHeader(parsing: UnsafeRawBufferPointer(copy))
    }

    @Test func readsTheFixedFields() throws {
        let header = try parse(Self.fixed + [9, 9, 9])
        #expect(header.marker)
        #expect(header.payloadType == 111)
        #expect(header.sequenceNumber == 0x1234)
        #expect(header.timestamp == 0x0102_0304)
        #expect(header.ssrc == 0x0A0B_0C0D)
        #expect(header.payload == 12..<15)
    }

    /// Flags in the first byte, what follows the fixed fields, and where the payload then lies.
    @Test(arguments: [
        (UInt8(0x80), [UInt8](), 12..<12),
        (0x82, [0, 0, 0, 1, 0, 0, 0, 2, 7], 20..<21),
        (0xA0, [7, 7, 0, 2], 12..<14),
        (0xA0, [0, 0, 3], 12..<12),
        (0x90, [0xBE, 0xDE, 0, 1, 0x10, 0xFF, 0, 0, 7, 7], 20..<22),
        (0x90, [0x10, 0x00, 0, 2, 1, 4, 1, 2, 3, 4, 0, 0, 7], 24..<25),
        (0x90, [0xBE, 0xDE, 0, 0, 7], 16..<17),
        (0xB1, [0, 0, 0, 1, 0xBE, 0xDE, 0, 1, 0x10, 0xFF, 0, 0, 7, 0, 2], 24..<25),
    ])
    func skipsSourcesExtensionAndPadding(first: UInt8, rest: [UInt8], payload: Range<Int>) throws {
        var bytes = Self.fixed + rest
        bytes[0] = first
        #expect(try parse(bytes).payload == payload)
    }

    @Test(arguments: [
        (UInt8(0x00), [UInt8](), RTPError.wrongVersion),
        (0xC0, [], .wrongVersion),
        (0x81, [0, 0, 0], .truncated),
        (0x90, [0xBE, 0xDE, 0], .truncated),
        (0x90, [0xBE, 0xDE, 0xFF, 0xFF, 0, 0], .truncated),
        (0xA0, [], .badPadding),
        (0xA0, [1, 0], .badPadding),
        (0xA0, [1, 3], .badPadding),
        (0xA0, [1, 255], .badPadding),
    ])
    func refusesWhatDoesNotFit(first: UInt8, rest: [UInt8], error: RTPError) {
        var bytes = Self.fixed + rest
        bytes[0] = first
        #expect(throws: error) { try parse(bytes) }
    }

    @Test(arguments: 0..<12) func refusesAPacketShorterThanItsHeader(count: Int) {
        #expect(throws: RTPError.truncated) { try parse(Array(Self.fixed.prefix(count))) }
    }

    @Test func noMutationTrapsOrPointsOutside() throws {
        var entropy = Entropy.seeded(1)
        let whole: [UInt8] = [
            0xB1, 0xEF, 0x12, 0x34, 1, 2, 3, 4, 0xA, 0xB, 0xC, 0xD, 0, 0, 0, 1, 0xBE, 0xDE, 0, 1, 0x10, 0xFF, 0, 0, 7,
            0, 2,
        ]
        var readCount = 0
        for _ in 0..<20_000 {
            let bytes = whole.mutated(by: &entropy)
            guard let header = try? parse(bytes) else { continue }
            readCount += 1
            #expect(header.payload.lowerBound >= 12 && header.payload.upperBound <= bytes.count)
        }
        #expect(readCount > 1000)
    }
}

extension [UInt8] {
    /// The same bytes with up to four of them changed, some cut off, or some added.
    func mutated(by entropy: inout Entropy) -> [UInt8] {
        var bytes = self
        for _ in 0..<Int.random(in: 0...4, using: &entropy) where !bytes.isEmpty {
            bytes[Int.random(in: 0..<bytes.count, using: &entropy)] = UInt8.random(in: 0...255, using: &entropy)
        }
        switch Int.random(in: 0..<4, using: &entropy) {
        case 0: bytes.removeLast(Int.random(in: 0...bytes.count, using: &entropy))
        case 1: bytes += entropy.bytes(Int.random(in: 0...40, using: &entropy))
        default: break
        }
        return bytes
    }
}
