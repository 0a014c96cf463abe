/// Why bytes are no STUN message that can be used. All of them mean: count it and drop the datagram.
enum STUNError: Error, Equatable {
    /// Too short, another protocol's first bits, or no magic cookie.
    case notSTUN
    /// The header's length is not that of the datagram, or an attribute reaches past its end.
    case truncated
    /// An attribute that is understood has a length or value that it cannot have.
    case malformedAttribute(UInt16)
    /// The FINGERPRINT is there and wrong.
    case wrongFingerprint
}

/// A STUN message as it came from the wire (RFC 8489 5): the fields a connectivity check uses, read in one pass.
///
/// A view: it owns nothing, allocates nothing (but for types it does not know) and must not outlive the bytes it was made with.
/// Only the first of equal attributes counts, and nothing after MESSAGE-INTEGRITY but FINGERPRINT (RFC 8489 14, 14.5). A
/// FINGERPRINT is checked where there is one; whether the message is authentic only `isAuthentic(_:)` says.
struct STUNMessage {
    enum Kind: UInt8, Sendable {
        case request = 0
        case indication = 1
        case success = 2
        case error = 3
    }

    /// What ICE-CONTROLLING or ICE-CONTROLLED says: the sender's role and its tie-breaker (RFC 8445 7.1.3).
    enum Role: Equatable, Sendable {
        case controlling(tieBreaker: UInt64)
        case controlled(tieBreaker: UInt64)
    }

    let kind: Kind
    let method: UInt16
    let transaction: STUNTransactionID
    private(set) var username: UnsafeRawBufferPointer?
    private(set) var priority: UInt32?
    private(set) var usesCandidate = false
    private(set) var role: Role?
    /// From XOR-MAPPED-ADDRESS.
    private(set) var mappedAddress: SocketAddress?
    private(set) var errorCode: UInt16?
    private(set) var hasFingerprint = false
    /// Types that must be understood and are not, the first few of them.
    private(set) var unknownAttributes: [UInt16] = []

    private let bytes: UnsafeRawBufferPointer
    private var integrity: (offset: Int, tag: STUNTag)?

    /// Whether these bytes can be STUN at all (RFC 7983 7, RFC 8489 5): the cheap question for sorting datagrams.
    static func isSTUN(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var reader = ByteReader(bytes)
        guard bytes.count >= STUNHeader.byteCount, let type = try? reader.uint16(), type >> 14 == 0 else {
            return false
        }
        guard (try? reader.skip(2)) != nil else { return false }
        return (try? reader.uint32()) == STUNHeader.magicCookie
    }

    /// - Parameter bytes: one whole datagram.
    init(parsing bytes: UnsafeRawBufferPointer) throws(STUNError) {
        guard Self.isSTUN(bytes) else { throw .notSTUN }
        self.bytes = bytes
        var reader = ByteReader(bytes)
        do {
            let type = try reader.uint16()
            let length = Int(try reader.uint16())
            try reader.skip(4)
            transaction = STUNTransactionID(high: try reader.uint64(), low: try reader.uint32())
            // RFC 8489 5, figure 3: the class is in bits 8 and 4, the method in those around them.
            kind =
                switch (type >> 8 & 1, type >> 4 & 1) {
                case (0, 0): .request
                case (0, _): .indication
                case (_, 0): .success
                case (_, _): .error
                }
            method = type & 0xF | type >> 1 & 0x70 | type >> 2 & 0xF80
            guard length == reader.remaining, length % 4 == 0 else { throw STUNError.truncated }
            while !reader.isAtEnd, !hasFingerprint {
                let offset = reader.offset
                let attribute = try reader.uint16()
                let value = try reader.slice(Int(try reader.uint16()))
                try reader.skip(-value.count & 3)  // RFC 8489 14: padded to 4 bytes
                try take(attribute, value, at: offset)
            }
        } catch let error as STUNError {
            throw error
        } catch {
            throw .truncated
        }
    }

    /// Whether MESSAGE-INTEGRITY is there and made with this key. False where it is missing.
    func isAuthentic(_ key: STUNKey) -> Bool {
        guard let integrity else { return false }
        let covered = UnsafeRawBufferPointer(rebasing: bytes[..<integrity.offset])
        // The offset lies inside a datagram whose length field has 16 bits.
        let length = UInt16(truncatingIfNeeded: integrity.offset + 24 - STUNHeader.byteCount)
        return key.tag(of: covered, withLength: length).matches(integrity.tag)
    }

    var hasIntegrity: Bool { integrity != nil }

    private mutating func take(
        _ attribute: UInt16, _ value: UnsafeRawBufferPointer, at offset: Int
    ) throws(STUNError) {
        if attribute == STUNAttribute.fingerprint {
            try takeFingerprint(value, at: offset)
            return
        }
        guard integrity == nil else { return }
        do {
            var reader = ByteReader(value)
            switch attribute {
            case STUNAttribute.username:
                if username == nil { username = reader.rest() }
            case STUNAttribute.messageIntegrity:
                let tag = STUNTag(
                    first: try reader.uint64(), second: try reader.uint64(), third: try reader.uint32())
                integrity = (offset, tag)
            case STUNAttribute.priority:
                let number = try reader.uint32()
                if priority == nil { priority = number }
            case STUNAttribute.useCandidate:
                usesCandidate = true
            case STUNAttribute.iceControlling:
                let tieBreaker = try reader.uint64()
                if role == nil { role = .controlling(tieBreaker: tieBreaker) }
            case STUNAttribute.iceControlled:
                let tieBreaker = try reader.uint64()
                if role == nil { role = .controlled(tieBreaker: tieBreaker) }
            case STUNAttribute.xorMappedAddress:
                let address = try xorAddress(&reader, of: attribute)
                if mappedAddress == nil { mappedAddress = address }
            case STUNAttribute.errorCode:
                try reader.skip(2)
                let hundreds = UInt16(try reader.uint8() & 7)
                let units = UInt16(try reader.uint8())
                if errorCode == nil { errorCode = hundreds * 100 + units }
                _ = reader.rest()
            case STUNAttribute.mappedAddress, STUNAttribute.unknownAttributes, STUNAttribute.messageIntegritySHA256:
                _ = reader.rest()
            default:
                if attribute < STUNAttribute.firstOptional, unknownAttributes.count < Self.unknownAttributesKept {
                    unknownAttributes.append(attribute)
                }
                _ = reader.rest()
            }
            guard reader.isAtEnd else { throw STUNError.malformedAttribute(attribute) }
        } catch {
            throw .malformedAttribute(attribute)
        }
    }

    /// How many types an answer of 420 names; a hostile message could hold thousands.
    private static let unknownAttributesKept = 8

    private mutating func takeFingerprint(_ value: UnsafeRawBufferPointer, at offset: Int) throws(STUNError) {
        var reader = ByteReader(value)
        guard let claimed = try? reader.uint32(), reader.isAtEnd else {
            throw .malformedAttribute(STUNAttribute.fingerprint)
        }
        // It must be the last attribute, or its own length field was not the one it was made with.
        guard offset + 8 == bytes.count,
            STUNFingerprint.value(of: UnsafeRawBufferPointer(rebasing: bytes[..<offset])) == claimed
        else { throw .wrongFingerprint }
        hasFingerprint = true
    }

    /// Reads an address that is xored with the cookie and the transaction (RFC 8489 14.2).
    func xorAddress(_ reader: inout ByteReader, of attribute: UInt16) throws -> SocketAddress {
        try reader.skip(1)
        let family = try reader.uint8()
        let port = try reader.uint16() ^ UInt16(truncatingIfNeeded: STUNHeader.magicCookie >> 16)
        switch family {
        case 1:
            return SocketAddress(ip: .v4(try reader.uint32() ^ STUNHeader.magicCookie), port: port)
        case 2:
            let mask = transaction.addressMask
            return SocketAddress(
                ip: .v6(high: try reader.uint64() ^ mask.high, low: try reader.uint64() ^ mask.low), port: port)
        default:
            throw STUNError.malformedAttribute(attribute)
        }
    }
}

extension STUNTransactionID {
    /// What an IPv6 address is xored with: the magic cookie and the transaction id (RFC 8489 14.2).
    var addressMask: (high: UInt64, low: UInt64) {
        (UInt64(STUNHeader.magicCookie) << 32 | high >> 32, high << 32 | UInt64(low))
    }
}
