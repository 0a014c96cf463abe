/// The FINGERPRINT of a STUN message (RFC 8489 14.7): CRC-32 as in ITU-T V.42, turned by a constant so that it does not match
/// the CRC of another protocol on the same port.
enum STUNFingerprint {
    /// - Parameter message: all bytes before the FINGERPRINT attribute, the length field already counting it.
    static func value(of message: UnsafeRawBufferPointer) -> UInt32 {
        var crc: UInt32 = .max
        table.withUnsafeBufferPointer { table in
            for byte in message {
                crc = table[Int((crc ^ UInt32(byte)) & 0xFF)] ^ crc >> 8
            }
        }
        return ~crc ^ 0x5354_554E  // RFC 8489 14.7
    }

    /// 256 entries of the reflected polynomial 0x04C11DB7.
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }
}
