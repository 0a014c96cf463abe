/// Writes one STUN message into a buffer it does not own (RFC 8489 5): header, attributes in the order of the calls, then
/// MESSAGE-INTEGRITY and FINGERPRINT by `finish(key:)`.
///
/// It never allocates, never writes past the buffer and must not outlive it. SOFTWARE is left out, since it helps only strangers.
struct STUNWriter {
    private var writer: ByteWriter
    private let transaction: STUNTransactionID

    init(
        _ buffer: UnsafeMutableRawBufferPointer, kind: STUNMessage.Kind, method: UInt16 = STUNHeader.binding,
        transaction: STUNTransactionID
    ) {
        writer = ByteWriter(buffer)
        self.transaction = transaction
        let classBits = UInt16(kind.rawValue & 2) << 7 | UInt16(kind.rawValue & 1) << 4
        writer.uint16(classBits | method & 0xF | (method & 0x70) << 1 | (method & 0xF80) << 2)
        writer.uint16(0)
        writer.uint32(STUNHeader.magicCookie)
        writer.uint64(transaction.high)
        writer.uint32(transaction.low)
    }

    mutating func username(_ bytes: [UInt8]) {
        attribute(STUNAttribute.username, bytes)
    }

    mutating func priority(_ value: UInt32) {
        attribute(STUNAttribute.priority, byteCount: 4)
        writer.uint32(value)
    }

    mutating func useCandidate() {
        attribute(STUNAttribute.useCandidate, byteCount: 0)
    }

    mutating func role(_ role: STUNMessage.Role) {
        switch role {
        case .controlling(let tieBreaker):
            attribute(STUNAttribute.iceControlling, byteCount: 8)
            writer.uint64(tieBreaker)
        case .controlled(let tieBreaker):
            attribute(STUNAttribute.iceControlled, byteCount: 8)
            writer.uint64(tieBreaker)
        }
    }

    mutating func xorMappedAddress(_ address: SocketAddress) {
        xorAddress(STUNAttribute.xorMappedAddress, address)
    }

    /// An address xored with the cookie and the transaction (RFC 8489 14.2), under any type.
    mutating func xorAddress(_ type: UInt16, _ address: SocketAddress) {
        let port = address.port ^ UInt16(truncatingIfNeeded: STUNHeader.magicCookie >> 16)
        switch address.ip {
        case .v4(let bits):
            attribute(type, byteCount: 8)
            writer.uint16(1)
            writer.uint16(port)
            writer.uint32(bits ^ STUNHeader.magicCookie)
        case .v6(let high, let low, _):
            let mask = transaction.addressMask
            attribute(type, byteCount: 20)
            writer.uint16(2)
            writer.uint16(port)
            writer.uint64(high ^ mask.high)
            writer.uint64(low ^ mask.low)
        }
    }

    /// - Parameter code: 300 to 699 (RFC 8489 14.8); the reason phrase is for people who read captures.
    mutating func errorCode(_ code: UInt16, reason: String) {
        attribute(STUNAttribute.errorCode, byteCount: 4 + reason.utf8.count)
        writer.uint16(0)
        writer.uint8(UInt8(truncatingIfNeeded: code / 100))
        writer.uint8(UInt8(truncatingIfNeeded: code % 100))
        writer.text(reason)
        pad(reason.utf8.count)
    }

    mutating func unknownAttributes(_ types: [UInt16]) {
        attribute(STUNAttribute.unknownAttributes, byteCount: types.count * 2)
        for type in types { writer.uint16(type) }
        pad(types.count * 2)
    }

    /// An attribute of any type, padded to 4 bytes.
    mutating func attribute(_ type: UInt16, _ value: [UInt8]) {
        attribute(type, byteCount: value.count)
        writer.bytes(value)
        pad(value.count)
    }

    /// An attribute of any type, padded to 4 bytes.
    mutating func attribute(_ type: UInt16, _ value: UnsafeRawBufferPointer) {
        attribute(type, byteCount: value.count)
        writer.bytes(value)
        pad(value.count)
    }

    mutating func attribute(_ type: UInt16, _ value: UInt32) {
        attribute(type, byteCount: 4)
        writer.uint32(value)
    }

    /// Adds MESSAGE-INTEGRITY-SHA256 made with `key` (RFC 8489 14.6), then FINGERPRINT.
    /// - Returns: the message's byte count, or nil where the buffer is too small.
    mutating func finish(sha256 key: STUNLongTermKey) -> Int? {
        setLength(adding: 36)
        let tag = key.sha256Tag(of: writer.written, withLength: length(adding: 36))
        attribute(STUNAttribute.messageIntegritySHA256, tag)
        return finish(key: nil)
    }

    /// Adds MESSAGE-INTEGRITY made with `key`, then FINGERPRINT.
    /// - Returns: the message's byte count, or nil where the buffer is too small.
    mutating func finish(key: STUNKey?) -> Int? {
        if let key {
            setLength(adding: 24)
            let tag = key.tag(of: writer.written, withLength: length(adding: 24))
            attribute(STUNAttribute.messageIntegrity, byteCount: 20)
            writer.uint64(tag.first)
            writer.uint64(tag.second)
            writer.uint32(tag.third)
        }
        setLength(adding: 8)
        let fingerprint = STUNFingerprint.value(of: writer.written)
        attribute(STUNAttribute.fingerprint, byteCount: 4)
        writer.uint32(fingerprint)
        return writer.finish()
    }

    private mutating func attribute(_ type: UInt16, byteCount: Int) {
        writer.uint16(type)
        writer.uint16(UInt16(truncatingIfNeeded: byteCount))
    }

    private mutating func pad(_ byteCount: Int) {
        writer.zeros(-byteCount & 3)
    }

    private func length(adding amount: Int) -> UInt16 {
        UInt16(truncatingIfNeeded: writer.count + amount - STUNHeader.byteCount)
    }

    private mutating func setLength(adding amount: Int) {
        writer.patch(uint16: length(adding: amount), at: 2)
    }
}
