/// The messages by which a data channel is opened (RFC 8832 5).
enum DCEPMessage: Equatable {
    case opening(isUnordered: Bool, label: String)
    case ack

    /// RFC 8832 5.2; a label of 65,535 bytes could be announced, but no name is that long.
    static let labelLimit = 1_024

    /// Nil for what is none, of an unknown kind, or has a label beyond the limit.
    init?(_ bytes: [UInt8]) {
        guard let message = bytes.withUnsafeBytes({ try? Self.read($0) }) else { return nil }
        self = message
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) throws(Truncated) -> DCEPMessage {
        var reader = ByteReader(bytes)
        switch try reader.uint8() {
        case 2: return .ack
        case 3:
            let kind = try reader.uint8()
            try reader.skip(2 + 4)  // priority, and the bound of partial reliability: we keep to neither, nor need to
            let labelLength = Int(try reader.uint16())
            let protocolLength = Int(try reader.uint16())
            let label = try reader.slice(labelLength)
            try reader.skip(protocolLength)
            // RFC 8832 5.1: reliable, or partially so by retransmissions or time
            guard kind & 0x7F <= 2, labelLength <= labelLimit else { throw Truncated() }
            return .opening(isUnordered: kind & 0x80 != 0, label: String(decoding: label, as: UTF8.self))
        default: throw Truncated()
        }
    }

    /// A reliable channel without a protocol name.
    var encoded: [UInt8] {
        switch self {
        case .ack: return [2]
        case .opening(let isUnordered, let label):
            let name = Array(label.utf8.prefix(Self.labelLimit))
            let head: [UInt8] = [3, isUnordered ? 0x80 : 0, 0, 0, 0, 0, 0, 0]
            let lengths: [UInt8] = [UInt8(name.count >> 8), UInt8(name.count & 0xFF), 0, 0]
            return head + lengths + name
        }
    }
}

/// What a message is (RFC 8831 8, registered with IANA as SCTP payload protocol identifiers).
enum DataChannelProtocol {
    static let control: UInt32 = 50
    static let text: UInt32 = 51
    static let binary: UInt32 = 53
    static let emptyText: UInt32 = 56
    static let emptyBinary: UInt32 = 57
}
