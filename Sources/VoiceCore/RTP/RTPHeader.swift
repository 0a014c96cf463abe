/// Why a datagram is no RTP or RTCP packet. Whoever reads it counts it and drops the datagram.
enum RTPError: Error, Equatable, Sendable {
    /// It ends before a field it announces.
    case truncated
    /// The version is not 2.
    case wrongVersion
    /// The padding count is zero or reaches into the header (RFC 3550 5.1).
    case badPadding
}

/// The fixed header of one RTP packet and where its payload lies (RFC 3550 5.1).
///
/// Contributing sources and header extensions, one-byte and two-byte alike (RFC 8285), are skipped: none was negotiated.
struct RTPHeader: Equatable, Sendable {
    /// The header as this client writes it: no contributing sources, no extension.
    static let byteCount = 12  // RFC 3550 5.1

    var marker: Bool
    /// 0 to 127.
    var payloadType: UInt8
    var sequenceNumber: UInt16
    /// In samples of 48 kHz, whatever the sound's bandwidth (RFC 7587 4.1).
    var timestamp: UInt32
    var ssrc: UInt32
    /// The payload's place in the packet, without padding; may be empty.
    var payload: Range<Int>

    /// - Parameter packet: one whole RTP packet, decrypted.
    /// - Throws: what is wrong with it; nothing of it may be used then.
    init(parsing packet: UnsafeRawBufferPointer) throws(RTPError) {
        guard let first = packet.first else { throw .truncated }
        guard first >> 6 == 2 else { throw .wrongVersion }
        var reader = ByteReader(packet)
        do throws(Truncated) {  // typed, so that a stranger's bytes cost no error box on the heap
            try reader.skip(1)
            let second = try reader.uint8()
            marker = second & 0x80 != 0
            payloadType = second & 0x7F
            sequenceNumber = try reader.uint16()
            timestamp = try reader.uint32()
            ssrc = try reader.uint32()
            try reader.skip(4 * Int(first & 0x0F))
            if first & 0x10 != 0 {
                try reader.skip(2)
                try reader.skip(4 * Int(try reader.uint16()))
            }
        } catch {
            throw .truncated
        }
        let start = reader.offset
        var end = packet.count
        if first & 0x20 != 0 {
            guard let last = packet.last, last > 0, Int(last) <= end - start else { throw .badPadding }
            end -= Int(last)
        }
        payload = start..<end
    }
}
