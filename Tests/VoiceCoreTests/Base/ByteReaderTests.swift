import Testing

@testable import VoiceCore

@Suite struct ByteReaderTests {
    /// Runs `body` over a reader of `bytes`.
    private func read<Value>(_ bytes: [UInt8], _ body: (inout ByteReader) throws -> Value) throws -> Value {
        try bytes.withUnsafeBytes { (raw) throws -> Value in
            var reader = ByteReader(raw)
            return try body(&reader)
        }
    }

    @Test func readsBigEndianFieldsInOrder() throws {
        let fields = try read(Array(1...24)) { reader in
            [
                UInt64(try reader.uint8()), UInt64(try reader.uint16()), UInt64(try reader.uint24()),
                UInt64(try reader.uint32()), try reader.uint48(), try reader.uint64(), UInt64(reader.remaining),
            ]
        }
        #expect(fields == [0x01, 0x0203, 0x040506, 0x0708_090A, 0x0B0C_0D0E_0F10, 0x1112_1314_1516_1718, 0])
    }

    @Test(arguments: [-1, 4, Int.max])
    func aSliceThatIsNotThereThrowsAndTakesNothing(count: Int) throws {
        let left = try read([1, 2, 3]) { reader in
            #expect(throws: Truncated()) { _ = try reader.slice(count) }
            return reader.remaining
        }
        #expect(left == 3)
    }

    @Test func aNumberPastTheEndThrowsAndTakesNothing() throws {
        let left = try read([1, 2, 3]) { reader in
            #expect(throws: Truncated()) { _ = try reader.uint32() }
            return reader.remaining
        }
        #expect(left == 3)
    }
}
