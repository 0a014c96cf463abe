/// Writes big-endian fields into a buffer it does not own and never past its end.
///
/// A field that does not fit is left out and `overflowed` stays set, so that an encoder can be written as one straight line
/// and asks once, at its end, with `finish()`. It must not outlive its buffer.
struct ByteWriter {
    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var count = 0
    private(set) var overflowed = false

    init(_ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
    }

    mutating func uint8(_ value: UInt8) { bigEndian(UInt64(value), 1) }
    mutating func uint16(_ value: UInt16) { bigEndian(UInt64(value), 2) }
    mutating func uint24(_ value: UInt32) { bigEndian(UInt64(value), 3) }
    mutating func uint32(_ value: UInt32) { bigEndian(UInt64(value), 4) }
    mutating func uint48(_ value: UInt64) { bigEndian(value, 6) }
    mutating func uint64(_ value: UInt64) { bigEndian(value, 8) }

    mutating func bytes(_ source: UnsafeRawBufferPointer) {
        guard reserve(source.count) else { return }
        for index in 0..<source.count { buffer[count + index] = source[index] }
        count += source.count
    }

    mutating func bytes(_ source: [UInt8]) {
        source.withUnsafeBytes { bytes($0) }
    }

    /// The UTF-8 of a string.
    mutating func text(_ source: String) {
        var source = source
        source.withUTF8 { bytes(UnsafeRawBufferPointer($0)) }
    }

    mutating func zeros(_ amount: Int) {
        guard reserve(amount) else { return }
        for index in 0..<amount { buffer[count + index] = 0 }
        count += amount
    }

    /// Overwrites two bytes already written, as length fields need.
    mutating func patch(uint16 value: UInt16, at offset: Int) {
        guard offset >= 0, offset + 2 <= count else {
            overflowed = true
            return
        }
        buffer[offset] = UInt8(value >> 8)
        buffer[offset + 1] = UInt8(value & 0xFF)
    }

    /// What has been written so far.
    var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[..<count]) }

    /// The number of bytes written, or nil where something did not fit.
    func finish() -> Int? { overflowed ? nil : count }

    private mutating func bigEndian(_ value: UInt64, _ width: Int) {
        guard reserve(width) else { return }
        for index in 0..<width {
            buffer[count + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * (width - 1 - index)))
        }
        count += width
    }

    private mutating func reserve(_ amount: Int) -> Bool {
        guard !overflowed, amount >= 0, amount <= buffer.count - count else {
            overflowed = true
            return false
        }
        return true
    }
}
