/// The JSON that the provider writes: its answers and its events. What it reads is read by FoundationEssentials.
enum JSON: Sendable, Equatable {
    case text(String)
    case number(Double)
    case object([String: JSON])

    /// RFC 8259; an object's members in the order of their names.
    var encoded: String {
        switch self {
        case .text(let text): return Self.quoted(text)
        case .number(let number):
            guard number.isFinite else { return "null" }
            return number == number.rounded() && abs(number) < 1e15 ? "\(Int64(number))" : "\(number)"
        case .object(let members):
            let parts = members.sorted { $0.key < $1.key }.map { "\(Self.quoted($0.key)):\($0.value.encoded)" }
            return "{\(parts.joined(separator: ","))}"
        }
    }

    static func quoted(_ text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        bytes.reserveCapacity(text.utf8.count + text.utf8.count / 8 + 2)
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
        return String(decoding: bytes, as: UTF8.self)
    }
}
