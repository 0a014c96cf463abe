/// One DATA chunk that was sent and is not acknowledged for good.
struct OutstandingChunk {
    enum Fate {
        case inFlight
        /// Reported behind a gap; the peer may still take that back (RFC 9260 6.2.1).
        case arrived
        /// To be sent again.
        case lost
    }

    let tsn: UInt32
    let stream: UInt16
    let sequence: UInt16
    let protocolID: UInt32
    let isUnordered: Bool
    let begins: Bool
    let ends: Bool
    /// The whole message, shared with its other chunks, and what of it is in this one.
    var message: [UInt8]
    let range: Range<Int>
    var fate = Fate.inFlight
    /// The number of the packet it was in last, counted by us.
    var packet: UInt64
    var wasSentAgain = false

    var byteCount: Int { range.count }

    /// - Parameter wantsSack: the peer shall not wait with its acknowledgement (RFC 7053).
    func write(to writer: inout SCTPPacketWriter, wantsSack: Bool) {
        var flags: UInt8 = 0
        if ends { flags |= 1 }
        if begins { flags |= 2 }
        if isUnordered { flags |= 4 }
        if wantsSack { flags |= 8 }
        writer.chunk(SCTPChunkType.data, flags: flags) { writer in
            writer.uint32(tsn)
            writer.uint16(stream)
            writer.uint16(sequence)
            writer.uint32(protocolID)
            message.withUnsafeBytes { writer.bytes(UnsafeRawBufferPointer(rebasing: $0[range])) }
        }
    }
}
