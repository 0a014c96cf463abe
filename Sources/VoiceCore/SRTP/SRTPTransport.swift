internal import CSRTP

/// Protects what we send and unprotects what we receive, in place (RFC 3711, RFC 7714).
///
/// Owned by the engine, on the network thread. One session for each direction, each for any SSRC. It never changes a packet's meaning, and
/// never hands the library fewer bytes than it reads. Left out: MKI and header encryption (DTLS-SRTP negotiates neither).
struct SRTPTransport: ~Copyable {
    private var sources = SourceList()
    private let outbound: srtp_t
    private let inbound: srtp_t

    /// Room that must be behind a packet that is to be protected: the index of SRTCP and the longest tag.
    static let trailerRoom = 4 + 16  // RFC 3711 3.4, RFC 7714 13.2

    /// - Throws: `keyLength`; `other` where libsrtp has no memory. There is no voice then.
    init(_ keys: SRTPKeys) throws(SRTPError) {
        let outbound = try SRTPLibrary.makeSession(keys.profile, key: keys.local, isInbound: false)
        do throws(SRTPError) {
            self.init(
                outbound: outbound,
                inbound: try SRTPLibrary.makeSession(keys.profile, key: keys.remote, isInbound: true))
        } catch {
            srtp_dealloc(outbound)
            throw error
        }
    }

    private init(outbound: srtp_t, inbound: srtp_t) {
        self.outbound = outbound
        self.inbound = inbound
    }

    deinit {
        srtp_dealloc(outbound)
        srtp_dealloc(inbound)
    }

    /// Makes an SRTP packet of an RTP packet.
    /// - Parameters:
    ///   - packet: the RTP packet in its first `count` bytes, then `trailerRoom` bytes at least.
    /// - Returns: the byte count of the SRTP packet.
    /// - Throws: `malformed`, `noRoom`, `replay` (a sequence number used before); the packet is not to be sent.
    mutating func protectRTP(_ packet: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        try SRTPTransport.checkRoom(packet, count)
        _ = try SRTPTransport.source(of: packet, count, shortest: 12, ssrcOffset: 8)
        return try SRTPTransport.apply(srtp_protect, outbound, packet, count)
    }

    /// Makes an RTP packet of an SRTP packet.
    /// - Parameters:
    ///   - packet: the SRTP packet in its first `count` bytes.
    /// - Returns: the byte count of the RTP packet.
    /// - Throws: `malformed`, `authentication`, `replay`, `tooManySources`; the packet is dropped, its bytes mean nothing any more.
    mutating func unprotectRTP(_ packet: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        let source = try SRTPTransport.source(of: packet, count, shortest: 12, ssrcOffset: 8)
        guard sources.admits(source) else { throw .tooManySources }
        let length = try SRTPTransport.apply(srtp_unprotect, inbound, packet, count)
        sources.insert(source)
        return length
    }

    /// Makes an SRTCP packet of a compound or reduced-size RTCP packet. Otherwise as `protectRTP`.
    mutating func protectRTCP(_ packet: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        try SRTPTransport.checkRoom(packet, count)
        _ = try SRTPTransport.source(of: packet, count, shortest: 8, ssrcOffset: 4)
        return try SRTPTransport.apply(srtp_protect_rtcp, outbound, packet, count)
    }

    /// Makes an RTCP packet of an SRTCP packet. Otherwise as `unprotectRTP`.
    mutating func unprotectRTCP(_ packet: UnsafeMutableRawBufferPointer, count: Int) throws(SRTPError) -> Int {
        let source = try SRTPTransport.source(of: packet, count, shortest: 8, ssrcOffset: 4)
        guard sources.admits(source) else { throw .tooManySources }
        let length = try SRTPTransport.apply(srtp_unprotect_rtcp, inbound, packet, count)
        sources.insert(source)
        return length
    }

    private static func apply(
        _ operation: (srtp_t?, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int32>?) -> srtp_err_status_t,
        _ session: srtp_t, _ packet: UnsafeMutableRawBufferPointer, _ count: Int
    ) throws(SRTPError) -> Int {
        var length = Int32(truncatingIfNeeded: count)
        let status = operation(session, packet.baseAddress, &length)
        guard status == srtp_err_status_ok else { throw SRTPError(status) }
        guard length >= 0, Int(length) <= packet.count else { throw .malformed }
        return Int(length)
    }

    private static func checkRoom(_ packet: UnsafeMutableRawBufferPointer, _ count: Int) throws(SRTPError) {
        guard count >= 0, count <= packet.count, packet.count - count >= trailerRoom else { throw .noRoom }
    }

    /// The SSRC of a packet that is long enough to have one (RFC 3550 5.1, 6.4.1).
    private static func source(
        of packet: UnsafeMutableRawBufferPointer, _ count: Int, shortest: Int, ssrcOffset: Int
    ) throws(SRTPError) -> UInt32 {
        guard count >= shortest, count <= packet.count, count <= largestPacket else { throw .malformed }
        guard packet.load(as: UInt8.self) >> 6 == 2 else { throw .malformed }
        return UInt32(bigEndian: packet.loadUnaligned(fromByteOffset: ssrcOffset, as: UInt32.self))
    }

    /// No datagram is longer.
    private static let largestPacket = 65_535
}

/// The SSRCs that authenticated packets came from. libsrtp keeps a stream for each as long as the session lives, so that a far end that
/// invents ever new ones would let it grow without end.
struct SourceList {
    private var known: [UInt32] = []
    private var last: UInt32?

    /// A peer has one for audio, one for RTCP alone, and new ones after a restart.
    static let limit = 64

    init() {
        known.reserveCapacity(SourceList.limit)
    }

    func admits(_ source: UInt32) -> Bool {
        source == last || known.count < SourceList.limit || known.contains(source)
    }

    mutating func insert(_ source: UInt32) {
        guard source != last else { return }
        last = source
        if !known.contains(source), known.count < SourceList.limit { known.append(source) }
    }
}
