/// Writes the little JSON that is sent; what is received is read by FoundationEssentials.
///
/// Written by hand because the encoder's first use alone costs more than the whole exchange on loopback.
enum JSONText {
    /// `{"name":"value"}` as UTF-8.
    static func object(_ name: StaticString, _ value: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(value.utf8.count + value.utf8.count / 8 + 64)
        bytes += Array("{\"\(name)\":".utf8)
        append(value, to: &bytes)
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// The text as a JSON string (RFC 8259 7), quotes included.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case UInt8(ascii: "\r"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
            case 0..<0x20: bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
