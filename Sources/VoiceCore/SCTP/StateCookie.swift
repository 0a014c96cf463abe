/// All that an INIT ACK promised, carried by the peer instead of kept by us, and signed (RFC 9260 5.1.3).
struct StateCookie: Equatable {
    var createdAt: Instant
    var localTag: UInt32
    var peerTag: UInt32
    /// The tags of the association that was there already; 0 where there was none (RFC 9260 5.2.2).
    var localTieTag: UInt32 = 0
    var peerTieTag: UInt32 = 0
    var localTSN: UInt32
    var peerTSN: UInt32
    var peerWindow: UInt32
    var outboundStreams: UInt16
    var inboundStreams: UInt16
    var knowsReconfiguration: Bool

    /// RFC 9260 16: Valid.Cookie.Life.
    static let lifetime = Duration.seconds(60)
    static let byteCount = 8 + 7 * 4 + 3 * 2 + 2 + 8

    enum Problem: Error, Equatable {
        /// Not one of ours, or altered.
        case forged
        /// Too old by this much; its peer's tag is the one to answer with.
        case stale(by: Duration, peerTag: UInt32)
    }

    init(
        createdAt: Instant, localTag: UInt32, localTSN: UInt32, outboundStreams: UInt16, inboundStreams: UInt16,
        peer: SCTPInitChunk
    ) {
        self.createdAt = createdAt
        self.localTag = localTag
        self.localTSN = localTSN
        self.outboundStreams = min(outboundStreams, peer.inboundStreams)
        self.inboundStreams = min(inboundStreams, peer.outboundStreams)
        peerTag = peer.tag
        peerTSN = peer.firstTSN
        peerWindow = peer.window
        knowsReconfiguration = peer.knowsReconfiguration
    }

    /// - Throws: `forged` before anything else is looked at; `stale` after its lifetime.
    init(_ bytes: UnsafeRawBufferPointer, key: SipHash, at now: Instant) throws(Problem) {
        guard bytes.count == Self.byteCount else { throw .forged }
        let signed = UnsafeRawBufferPointer(rebasing: bytes[..<(Self.byteCount - 8)])
        var reader = ByteReader(bytes)
        do throws(Truncated) {
            createdAt = Instant(nanoseconds: Int64(bitPattern: try reader.uint64()))
            localTag = try reader.uint32()
            peerTag = try reader.uint32()
            localTieTag = try reader.uint32()
            peerTieTag = try reader.uint32()
            localTSN = try reader.uint32()
            peerTSN = try reader.uint32()
            peerWindow = try reader.uint32()
            outboundStreams = try reader.uint16()
            inboundStreams = try reader.uint16()
            knowsReconfiguration = try reader.uint16() != 0
            try reader.skip(2)
            // One comparison of 64 bits takes the same time wherever they differ.
            guard try reader.uint64() == key.tag(of: signed) else { throw Truncated() }
        } catch {
            throw .forged
        }
        let age = now - createdAt
        guard age <= Self.lifetime else { throw .stale(by: age - Self.lifetime, peerTag: peerTag) }
    }

    func write(to writer: inout ByteWriter, key: SipHash) {
        let start = writer.count
        writer.uint64(UInt64(bitPattern: createdAt.nanoseconds))
        writer.uint32(localTag)
        writer.uint32(peerTag)
        writer.uint32(localTieTag)
        writer.uint32(peerTieTag)
        writer.uint32(localTSN)
        writer.uint32(peerTSN)
        writer.uint32(peerWindow)
        writer.uint16(outboundStreams)
        writer.uint16(inboundStreams)
        writer.uint16(knowsReconfiguration ? 1 : 0)
        writer.uint16(0)
        writer.uint64(key.tag(of: UnsafeRawBufferPointer(rebasing: writer.written[start...])))
    }
}
