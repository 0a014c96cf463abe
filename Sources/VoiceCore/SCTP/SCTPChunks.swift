/// DATA (RFC 9260 3.3.1): one message or a part of one.
struct SCTPDataChunk {
    var tsn: UInt32
    var stream: UInt16
    var sequence: UInt16
    var protocolID: UInt32
    var isUnordered: Bool
    var begins: Bool
    var ends: Bool
    /// The sender wants to hear at once that it came (RFC 7053).
    var wantsSack: Bool
    /// Not empty; it must not outlive the packet.
    var payload: UnsafeRawBufferPointer

    /// With the chunk's header.
    static let headerByteCount = 16

    /// - Throws: `truncated`; `malformedChunk` where it carries nothing.
    init(_ chunk: SCTPChunk) throws(SCTPFault) {
        var reader = ByteReader(chunk.value)
        do throws(Truncated) {
            tsn = try reader.uint32()
            stream = try reader.uint16()
            sequence = try reader.uint16()
            protocolID = try reader.uint32()
        } catch {
            throw .truncated
        }
        payload = reader.rest()
        guard !payload.isEmpty else { throw .malformedChunk }
        ends = chunk.flags & 1 != 0
        begins = chunk.flags & 2 != 0
        isUnordered = chunk.flags & 4 != 0
        wantsSack = chunk.flags & 8 != 0
    }
}

/// INIT and INIT ACK (RFC 9260 3.3.2 and 3.3.3).
struct SCTPInitChunk {
    var tag: UInt32
    var window: UInt32
    var outboundStreams: UInt16
    var inboundStreams: UInt16
    var firstTSN: UInt32
    var knowsForwardTSN = false
    var knowsReconfiguration = false
    /// Only in INIT ACK; it must not outlive the packet.
    var cookie: UnsafeRawBufferPointer?
    /// Parameters to be reported as not known, whole and padded, as many as are worth it.
    var unrecognized: [UInt8] = []
    /// It wants to be reached by name, which RFC 9260 3.3.2.1.4 does not allow any more.
    var hasHostName = false

    private static let unrecognizedLimit = 256

    init(tag: UInt32, window: UInt32, outboundStreams: UInt16, inboundStreams: UInt16, firstTSN: UInt32) {
        self.tag = tag
        self.window = window
        self.outboundStreams = outboundStreams
        self.inboundStreams = inboundStreams
        self.firstTSN = firstTSN
    }

    /// - Throws: `truncated`.
    init(_ chunk: SCTPChunk) throws(SCTPFault) {
        var reader = ByteReader(chunk.value)
        do throws(Truncated) {
            tag = try reader.uint32()
            window = try reader.uint32()
            outboundStreams = try reader.uint16()
            inboundStreams = try reader.uint16()
            firstTSN = try reader.uint32()
        } catch {
            throw .truncated
        }
        for (type, whole, value) in SCTPParameters(reader.rest()) {
            switch type {
            case SCTPParameterType.stateCookie: cookie = value
            case SCTPParameterType.forwardTSNSupported: knowsForwardTSN = true
            case SCTPParameterType.supportedExtensions:
                knowsForwardTSN = knowsForwardTSN || value.contains(SCTPChunkType.forwardTSN)
                knowsReconfiguration = value.contains(SCTPChunkType.reconfiguration)
            case SCTPParameterType.hostName: hasHostName = true
            case SCTPParameterType.ipv4Address, SCTPParameterType.ipv6Address, SCTPParameterType.unrecognized,
                SCTPParameterType.cookiePreservative, SCTPParameterType.supportedAddresses:
                break  // there is one path, which ICE takes care of (RFC 8261 6.1)
            default:
                let handling = UnknownHandling(parameterType: type)
                if handling.isReported, unrecognized.count + whole.count + 4 <= Self.unrecognizedLimit {
                    unrecognized += whole
                    unrecognized += [UInt8](repeating: 0, count: -whole.count & 3)
                }
                if !handling.goesOn { return }
            }
        }
    }

    /// Why nobody can talk with who sent it; nil where it is good.
    var refusal: SCTPCause? {
        // RFC 9260 3.3.2: no tag, streams or window of use
        if tag == 0 || outboundStreams == 0 || inboundStreams == 0 { return .invalidParameter }
        if window < 1_500 { return .protocolViolation }
        return hasHostName ? .unresolvableAddress : nil
    }

    /// What stands in INIT and INIT ACK alike; the cookie and what is to be reported are added to the latter.
    func write(to writer: inout ByteWriter) {
        writer.uint32(tag)
        writer.uint32(window)
        writer.uint16(outboundStreams)
        writer.uint16(inboundStreams)
        writer.uint32(firstTSN)
        writer.parameter(SCTPParameterType.forwardTSNSupported)
        writer.parameter(SCTPParameterType.supportedExtensions) {
            $0.uint8(SCTPChunkType.reconfiguration)
            $0.uint8(SCTPChunkType.forwardTSN)
        }
    }
}

/// SACK (RFC 9260 3.3.4). It must not outlive the packet.
struct SCTPSackChunk {
    var cumulativeTSN: UInt32
    var window: UInt32
    private var reader: ByteReader
    private var gapCount: Int

    /// - Throws: `truncated`.
    init(_ chunk: SCTPChunk) throws(SCTPFault) {
        var reader = ByteReader(chunk.value)
        do throws(Truncated) {
            cumulativeTSN = try reader.uint32()
            window = try reader.uint32()
            gapCount = Int(try reader.uint16())
            try reader.skip(2)  // how many duplicates stand behind the gaps; of no use to us
            guard 4 * gapCount <= reader.remaining else { throw Truncated() }
        } catch {
            throw .truncated
        }
        self.reader = reader
    }

    /// Without gaps.
    init(cumulativeTSN: UInt32, window: UInt32) {
        self.cumulativeTSN = cumulativeTSN
        self.window = window
        reader = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0))
        gapCount = 0
    }

    var hasGaps: Bool { gapCount > 0 }

    /// The next block of TSNs that came, counted from the cumulative one.
    mutating func nextBlock() -> (first: UInt16, last: UInt16)? {
        guard gapCount > 0, let first = try? reader.uint16(), let last = try? reader.uint16() else { return nil }
        gapCount -= 1
        return (first, last)
    }
}

/// FORWARD TSN (RFC 3758 3.2). It must not outlive the packet.
struct SCTPForwardTSNChunk {
    var cumulativeTSN: UInt32
    private var reader: ByteReader

    /// - Throws: `truncated`.
    init(_ chunk: SCTPChunk) throws(SCTPFault) {
        var reader = ByteReader(chunk.value)
        do throws(Truncated) {
            cumulativeTSN = try reader.uint32()
        } catch {
            throw .truncated
        }
        self.reader = reader
    }

    /// The next stream in which messages are left out, up to this one.
    mutating func nextStream() -> (stream: UInt16, sequence: UInt16)? {
        guard let stream = try? reader.uint16(), let sequence = try? reader.uint16() else { return nil }
        return (stream, sequence)
    }
}
