/// The checksum of SCTP packets: CRC-32 with Castagnoli's polynomial (RFC 9260 appendix A).
///
/// Eight bytes are taken at a time, each from a table of its own, since a long message is summed up twice by us alone.
struct CRC32C {
    private var remainder: UInt32 = 0xFFFF_FFFF

    /// 0x1EDC6F41 with its bits reversed (RFC 9260 appendix A).
    private static let polynomial: UInt32 = 0x82F6_3B78

    /// 8 tables of 256 entries: what a byte does to the remainder, with 0 to 7 bytes of zeros behind it.
    private static let table: [UInt32] = {
        var table = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var value = UInt32(byte)
            for _ in 0..<8 { value = value >> 1 ^ (value & 1 == 1 ? polynomial : 0) }
            table[byte] = value
        }
        for index in 256..<8 * 256 {
            let shorter = table[index - 256]
            table[index] = shorter >> 8 ^ table[Int(shorter & 0xFF)]
        }
        return table
    }()

    /// The checksum of what was added.
    var value: UInt32 { ~remainder }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var state = remainder
        Self.table.withUnsafeBufferPointer { table in
            var offset = 0
            while bytes.count - offset >= 8 {
                // Little-endian whatever the machine is: the first byte is the lowest.
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                let mixed = word ^ UInt64(state)
                state =
                    table[1_792 + Int(mixed & 0xFF)] ^ table[1_536 + Int(mixed >> 8 & 0xFF)]
                state ^= table[1_280 + Int(mixed >> 16 & 0xFF)] ^ table[1_024 + Int(mixed >> 24 & 0xFF)]
                state ^= table[768 + Int(mixed >> 32 & 0xFF)] ^ table[512 + Int(mixed >> 40 & 0xFF)]
                state ^= table[256 + Int(mixed >> 48 & 0xFF)] ^ table[Int(mixed >> 56)]
                offset += 8
            }
            while offset < bytes.count {
                state = state >> 8 ^ table[Int((state ^ UInt32(bytes[offset])) & 0xFF)]
                offset += 1
            }
        }
        remainder = state
    }
}
