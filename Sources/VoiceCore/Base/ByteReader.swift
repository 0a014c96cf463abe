/// The input ended before the field that was asked for.
struct Truncated: Error, Equatable {}

/// Reads big-endian fields from bytes it does not own. Every read is checked, in release builds too; none traps or allocates.
///
/// It must not outlive the bytes it was made with.
struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    private(set) var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    var remaining: Int { bytes.count - offset }
    var isAtEnd: Bool { remaining == 0 }

    mutating func uint8() throws(Truncated) -> UInt8 {
        UInt8(truncatingIfNeeded: try bigEndian(1))
    }

    mutating func uint16() throws(Truncated) -> UInt16 {
        UInt16(truncatingIfNeeded: try bigEndian(2))
    }

    mutating func uint24() throws(Truncated) -> UInt32 {
        UInt32(truncatingIfNeeded: try bigEndian(3))
    }

    mutating func uint32() throws(Truncated) -> UInt32 {
        UInt32(truncatingIfNeeded: try bigEndian(4))
    }

    mutating func uint48() throws(Truncated) -> UInt64 {
        try bigEndian(6)
    }

    mutating func uint64() throws(Truncated) -> UInt64 {
        try bigEndian(8)
    }

    /// The next `count` bytes, still owned by whoever owns the input. A negative count is `Truncated` too.
    mutating func slice(_ count: Int) throws(Truncated) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= remaining else { throw Truncated() }
        let part = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
        offset += count
        return part
    }

    mutating func skip(_ count: Int) throws(Truncated) {
        _ = try slice(count)
    }

    /// All that is left.
    mutating func rest() -> UnsafeRawBufferPointer {
        let part = UnsafeRawBufferPointer(rebasing: bytes[offset...])
        offset = bytes.count
        return part
    }

    private mutating func bigEndian(_ count: Int) throws(Truncated) -> UInt64 {
        guard count <= remaining else { throw Truncated() }
        var value: UInt64 = 0
        for index in offset..<offset + count {
            value = value << 8 | UInt64(bytes[index])
        }
        offset += count
        return value
    }
}
