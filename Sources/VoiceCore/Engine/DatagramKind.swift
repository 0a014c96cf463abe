/// What a datagram on a WebRTC path is, by its first bytes (RFC 7983 7, RFC 5761 4).
enum DatagramKind: Equatable {
    case stun
    case dtls
    case rtp
    case rtcp
    /// Belongs to no protocol that is spoken here.
    case unknown

    init(_ datagram: UnsafeRawBufferPointer) {
        var reader = ByteReader(datagram)
        guard let first = try? reader.uint8(), let second = try? reader.uint8() else {
            self = .unknown
            return
        }
        switch first {
        case 0...3: self = .stun
        case 20...63: self = .dtls
        // The payload type with the marker bit: 192...223 are RTCP packet types (RFC 5761 4).
        case 128...191: self = (192...223).contains(second) ? .rtcp : .rtp
        default: self = .unknown
        }
    }
}
