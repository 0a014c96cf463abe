/// What stands at the head of each packet (RFC 9260 3.1).
struct SCTPHeader: Equatable {
    var sourcePort: UInt16
    var destinationPort: UInt16
    var verificationTag: UInt32

    static let byteCount = 12
}

/// One chunk of a packet, unread (RFC 9260 3.2). It must not outlive the bytes it was read from.
struct SCTPChunk {
    var type: UInt8
    var flags: UInt8
    /// Without its header and padding.
    var value: UnsafeRawBufferPointer

    static let headerByteCount = 4
}

/// Reads one packet, chunk after chunk, without allocating.
struct SCTPPacketReader {
    let header: SCTPHeader
    private var reader: ByteReader

    /// - Parameter bytes: one whole datagram.
    /// - Throws: `truncated` where not even the header is there, `wrongChecksum`. Nobody is told.
    init(_ bytes: UnsafeRawBufferPointer) throws(SCTPFault) {
        var reader = ByteReader(bytes)
        let checksum: UInt32
        do throws(Truncated) {
            header = SCTPHeader(
                sourcePort: try reader.uint16(), destinationPort: try reader.uint16(),
                verificationTag: try reader.uint32())
            checksum = try reader.uint32()
        } catch {
            throw .truncated
        }
        guard checksum == Self.checksum(of: bytes) else { throw .wrongChecksum }
        self.reader = reader
    }

    /// The next chunk; nil at the end.
    /// - Throws: the rest cannot be read; what came before it stands.
    mutating func next() throws(SCTPFault) -> SCTPChunk? {
        guard !reader.isAtEnd else { return nil }
        do throws(Truncated) {
            let type = try reader.uint8()
            let flags = try reader.uint8()
            let length = Int(try reader.uint16())
            let value = try reader.slice(length - SCTPChunk.headerByteCount)
            try reader.skip(min(-length & 3, reader.remaining))  // the last chunk's padding is sometimes left out
            return SCTPChunk(type: type, flags: flags, value: value)
        } catch {
            throw .truncated
        }
    }

    /// The checksum as it stands in the packet: its lowest byte first (RFC 9260 appendix A), read here as a big-endian number.
    static func checksum(of packet: UnsafeRawBufferPointer) -> UInt32 {
        var crc = CRC32C()
        crc.add(UnsafeRawBufferPointer(rebasing: packet[..<8]))
        var zero: UInt32 = 0
        withUnsafeBytes(of: &zero) { crc.add($0) }
        crc.add(UnsafeRawBufferPointer(rebasing: packet[SCTPHeader.byteCount...]))
        return crc.value.byteSwapped
    }
}

/// Writes one packet, chunk after chunk, never past its end.
struct SCTPPacketWriter {
    private let buffer: UnsafeMutableRawBufferPointer
    private var writer: ByteWriter
    private var chunkStart = 0

    /// - Parameter buffer: as large as the packet may become, a multiple of 4 bytes.
    init(_ buffer: UnsafeMutableRawBufferPointer, header: SCTPHeader) {
        self.buffer = buffer
        writer = ByteWriter(buffer)
        writer.uint16(header.sourcePort)
        writer.uint16(header.destinationPort)
        writer.uint32(header.verificationTag)
        writer.uint32(0)  // the checksum
    }

    /// Whether there is a chunk in it.
    var isEmpty: Bool { writer.count == SCTPHeader.byteCount }

    /// How many bytes the next chunk's value may have.
    var remaining: Int { max(0, (buffer.count & ~3) - writer.count - SCTPChunk.headerByteCount) }

    /// One chunk, whose value `write` gives. Ask `remaining` before.
    mutating func chunk(_ type: UInt8, flags: UInt8 = 0, _ write: (inout ByteWriter) -> Void = { _ in }) {
        let start = writer.count
        writer.uint8(type)
        writer.uint8(flags)
        writer.uint16(0)
        write(&writer)
        writer.patch(uint16: UInt16(truncatingIfNeeded: writer.count - start), at: start + 2)
        writer.zeros(-writer.count & 3)
    }

    /// The packet's byte count, after its checksum was put in; nil where something did not fit.
    mutating func finish() -> Int? {
        guard let count = writer.finish() else { return nil }
        let checksum = SCTPPacketReader.checksum(of: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        writer.patch(uint16: UInt16(checksum >> 16), at: 8)
        writer.patch(uint16: UInt16(checksum & 0xFFFF), at: 10)
        return count
    }
}

extension ByteWriter {
    /// One parameter or error cause with its header and padding (RFC 9260 3.2.1).
    mutating func parameter(_ type: UInt16, _ write: (inout ByteWriter) -> Void = { _ in }) {
        let start = count
        uint16(type)
        uint16(0)
        write(&self)
        patch(uint16: UInt16(truncatingIfNeeded: count - start), at: start + 2)
        zeros(-count & 3)
    }
}

/// The parameters, or error causes, of one chunk (RFC 9260 3.2.1). It must not outlive the bytes it was read from.
struct SCTPParameters: Sequence, IteratorProtocol {
    private var reader: ByteReader

    init(_ bytes: UnsafeRawBufferPointer) {
        reader = ByteReader(bytes)
    }

    /// The next one, whole and without its header; nil at the end, and where the rest cannot be read.
    mutating func next() -> (type: UInt16, whole: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)? {
        var ahead = reader
        guard let type = try? ahead.uint16(), let length = try? ahead.uint16(), length >= 4,
            let whole = try? reader.slice(Int(length))
        else { return nil }
        try? reader.skip(Swift.min(-Int(length) & 3, reader.remaining))
        return (type, whole, UnsafeRawBufferPointer(rebasing: whole[4...]))
    }
}
