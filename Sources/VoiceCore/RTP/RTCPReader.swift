/// One packet of a compound RTCP packet, as far as this client cares. It must not outlive the bytes it was read from.
enum RTCPPacket {
    case senderReport(ssrc: UInt32, SenderInfo, ReportBlocks)
    case receiverReport(ssrc: UInt32, ReportBlocks)
    /// Names of the far end; nothing here needs them.
    case sourceDescription
    case goodbye(GoodbyeSources)
    /// RFC 4585 6.2 and 6.3: a wish about a stream of ours (205: transport, 206: payload); none was negotiated.
    case feedback(type: UInt8, format: UInt8, mediaSSRC: UInt32)
    /// A kind that is not known here, or extended reports.
    case unknown(type: UInt8)
}

/// Reads a compound or reduced-size RTCP packet (RFC 3550 6.1, RFC 5506) one part after the other, without allocating.
///
/// The order of the parts is not judged: with reduced size any may come first, and SRTCP has authenticated them all.
struct RTCPReader {
    private var reader: ByteReader

    /// - Parameter bytes: one whole datagram, decrypted.
    init(_ bytes: UnsafeRawBufferPointer) {
        reader = ByteReader(bytes)
    }

    /// The next part; nil at the end.
    /// - Throws: the rest cannot be read; what came before it stands.
    mutating func next() throws(RTPError) -> RTCPPacket? {
        guard !reader.isAtEnd else { return nil }
        do throws(RTPError) {
            return try read()
        } catch {
            reader = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
            throw error
        }
    }

    private mutating func read() throws(RTPError) -> RTCPPacket {
        let first, type: UInt8
        var body: UnsafeRawBufferPointer
        do throws(Truncated) {  // typed, so that a stranger's bytes cost no error box on the heap
            first = try reader.uint8()
            type = try reader.uint8()
            body = try reader.slice(4 * Int(try reader.uint16()))
        } catch {
            throw .truncated
        }
        guard first >> 6 == 2 else { throw .wrongVersion }
        if first & 0x20 != 0 {
            // RFC 3550 6.4.1: a multiple of four, and only in the last part.
            guard reader.isAtEnd, let count = body.last.map(Int.init), count > 0, count % 4 == 0, count <= body.count
            else { throw .badPadding }
            body = UnsafeRawBufferPointer(rebasing: body.dropLast(count))
        }
        do throws(Truncated) {
            return try part(type: type, count: first & 0x1F, body: ByteReader(body))
        } catch {
            throw .truncated
        }
    }

    private func part(type: UInt8, count: UInt8, body: ByteReader) throws(Truncated) -> RTCPPacket {
        var body = body
        switch type {
        case 200:  // RFC 3550 6.4.1
            let ssrc = try body.uint32()
            let info = SenderInfo(
                ntp: NTPTime(seconds: try body.uint32(), fraction: try body.uint32()),
                rtpTimestamp: try body.uint32(), packetCount: try body.uint32(), octetCount: try body.uint32())
            return .senderReport(ssrc: ssrc, info, try ReportBlocks(&body, count: Int(count)))
        case 201:  // RFC 3550 6.4.2
            return .receiverReport(ssrc: try body.uint32(), try ReportBlocks(&body, count: Int(count)))
        case 202:  // RFC 3550 6.5
            return .sourceDescription
        case 203:  // RFC 3550 6.6
            return .goodbye(GoodbyeSources(bytes: try body.slice(4 * Int(count))))
        case 205, 206:  // RFC 4585 6.1
            try body.skip(4)
            return .feedback(type: type, format: count, mediaSSRC: try body.uint32())
        default:
            return .unknown(type: type)
        }
    }
}

/// The report blocks of one report; it must not outlive the bytes it was read from.
struct ReportBlocks: Sequence, IteratorProtocol {
    private var reader: ByteReader

    fileprivate init(_ body: inout ByteReader, count: Int) throws(Truncated) {
        reader = ByteReader(try body.slice(ReportBlock.byteCount * count))
    }

    mutating func next() -> ReportBlock? {
        guard
            let ssrc = try? reader.uint32(), let fraction = try? reader.uint8(), let lost = try? reader.uint24(),
            let sequence = try? reader.uint32(), let jitter = try? reader.uint32(),
            let lastReport = try? reader.uint32(), let delay = try? reader.uint32()
        else { return nil }
        return ReportBlock(
            ssrc: ssrc, fractionLost: fraction,
            cumulativeLost: Int32(bitPattern: lost << 8) >> 8,  // 24 bits with a sign
            extendedSequence: sequence, jitter: jitter, lastSenderReport: lastReport,
            delaySinceLastSenderReport: delay)
    }
}

/// The streams that a BYE ends; it must not outlive the bytes it was read from.
struct GoodbyeSources: Sequence, IteratorProtocol {
    private var reader: ByteReader

    fileprivate init(bytes: UnsafeRawBufferPointer) {
        reader = ByteReader(bytes)
    }

    mutating func next() -> UInt32? { try? reader.uint32() }
}
