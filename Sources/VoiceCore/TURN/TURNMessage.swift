/// A message of a TURN server (RFC 8656): what STUN reads of it, and the attributes that only TURN has.
///
/// A view, as `STUNMessage` is: it must not outlive its bytes.
struct TURNMessage {
    let stun: STUNMessage
    /// Of each family the first.
    private(set) var relayedAddresses: [SocketAddress] = []
    private(set) var peerAddress: SocketAddress?
    private(set) var data: UnsafeRawBufferPointer?
    private(set) var lifetime: Duration?
    private(set) var realm: [UInt8]?
    private(set) var nonce: [UInt8]?
    /// The value of PASSWORD-ALGORITHMS, which is sent back as it came.
    private(set) var passwordAlgorithms: [UInt8]?

    private let bytes: UnsafeRawBufferPointer
    private var sha256Integrity: (offset: Int, tag: UnsafeRawBufferPointer)?

    // RFC 8489 14.9, 14.10: fewer than 128 characters, in at most 763 bytes.
    private static let textLimit = 763
    // Two algorithms exist; a server that lists more than this is not one that we could obey.
    private static let algorithmsLimit = 64

    init(parsing bytes: UnsafeRawBufferPointer) throws(STUNError) {
        stun = try STUNMessage(parsing: bytes)
        self.bytes = bytes
        var reader = ByteReader(bytes)
        do {
            try reader.skip(STUNHeader.byteCount)
            while !reader.isAtEnd {
                let offset = reader.offset
                let type = try reader.uint16()
                let value = try reader.slice(Int(try reader.uint16()))
                try reader.skip(-value.count & 3)  // RFC 8489 14: padded to 4 bytes
                if type == STUNAttribute.messageIntegrity { break }
                if type == STUNAttribute.messageIntegritySHA256 {
                    sha256Integrity = (offset, value)
                    break
                }
                try take(type, value)
            }
        } catch let error as STUNError {
            throw error
        } catch {
            throw .truncated
        }
    }

    /// Whether it carries an integrity attribute made with this key; the SHA-256 one where `usesSHA256`.
    func isAuthentic(_ key: STUNLongTermKey, usesSHA256: Bool) -> Bool {
        guard usesSHA256 else { return stun.isAuthentic(key.integrity) }
        guard let sha256Integrity, sha256Integrity.tag.count == 32 else { return false }
        let covered = UnsafeRawBufferPointer(rebasing: bytes[..<sha256Integrity.offset])
        // The offset lies inside a datagram whose length field has 16 bits.
        let length = UInt16(truncatingIfNeeded: sha256Integrity.offset + 36 - STUNHeader.byteCount)
        let tag = key.sha256Tag(of: covered, withLength: length)
        guard tag.count == 32 else { return false }
        var difference: UInt8 = 0
        for index in 0..<32 { difference |= tag[index] ^ sha256Integrity.tag[index] }
        return difference == 0
    }

    private mutating func take(_ type: UInt16, _ value: UnsafeRawBufferPointer) throws(STUNError) {
        do {
            var reader = ByteReader(value)
            switch type {
            case TURNAttribute.relayedAddress:
                let address = try stun.xorAddress(&reader, of: type)
                if !relayedAddresses.contains(where: { $0.ip.isIPv6 == address.ip.isIPv6 }) {
                    relayedAddresses.append(address)
                }
            case TURNAttribute.peerAddress:
                if peerAddress == nil { peerAddress = try stun.xorAddress(&reader, of: type) }
            case TURNAttribute.data:
                if data == nil { data = value }
            case TURNAttribute.lifetime:
                lifetime = .seconds(Int64(try reader.uint32()))
            case TURNAttribute.realm where value.count <= Self.textLimit:
                if realm == nil { realm = Array(value) }
            case TURNAttribute.nonce where value.count <= Self.textLimit:
                if nonce == nil { nonce = Array(value) }
            case TURNAttribute.passwordAlgorithms where value.count <= Self.algorithmsLimit:
                if passwordAlgorithms == nil { passwordAlgorithms = Array(value) }
            default:
                break
            }
        } catch {
            throw .malformedAttribute(type)
        }
    }
}

/// The four bytes before data on a channel (RFC 8656 12.4).
enum ChannelData {
    static let headerByteCount = 4
    /// RFC 8656 12: channel numbers.
    static let numbers: ClosedRange<UInt16> = 0x4000...0x4FFF

    /// The channel and the data; nil where this is no whole ChannelData message.
    static func parse(_ bytes: UnsafeRawBufferPointer) -> (channel: UInt16, data: UnsafeRawBufferPointer)? {
        var reader = ByteReader(bytes)
        guard let channel = try? reader.uint16(), numbers.contains(channel), let count = try? reader.uint16(),
            let data = try? reader.slice(Int(count))
        else { return nil }
        return (channel, data)
    }
}
