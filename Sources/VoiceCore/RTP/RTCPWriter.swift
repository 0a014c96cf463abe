/// Writes one compound RTCP packet (RFC 3550 6.1): a report first, then its blocks, the source description, and a goodbye.
///
/// It must not outlive its buffer, and never allocates.
struct RTCPWriter {
    private var writer: ByteWriter
    /// Where the report's own header begins, and what its first byte counts.
    private var report = (offset: 0, type: UInt16(0), blockCount: UInt16(0))

    init(into buffer: UnsafeMutableRawBufferPointer) {
        writer = ByteWriter(buffer)
    }

    /// RFC 3550 6.4.1; its blocks follow through `add`.
    mutating func senderReport(ssrc: UInt32, _ info: SenderInfo) {
        begin(type: 200)
        writer.uint32(ssrc)
        writer.uint32(info.ntp.seconds)
        writer.uint32(info.ntp.fraction)
        writer.uint32(info.rtpTimestamp)
        writer.uint32(info.packetCount)
        writer.uint32(info.octetCount)
        closeReport()
    }

    /// RFC 3550 6.4.2; its blocks follow through `add`.
    mutating func receiverReport(ssrc: UInt32) {
        begin(type: 201)
        writer.uint32(ssrc)
        closeReport()
    }

    /// One more block for the report just written; at most 31.
    mutating func add(_ block: ReportBlock) {
        precondition(report.type != 0 && report.blockCount < 31)
        writer.uint32(block.ssrc)
        writer.uint8(block.fractionLost)
        writer.uint24(UInt32(bitPattern: block.cumulativeLost) & 0xFF_FFFF)
        writer.uint32(block.extendedSequence)
        writer.uint32(block.jitter)
        writer.uint32(block.lastSenderReport)
        writer.uint32(block.delaySinceLastSenderReport)
        report.blockCount += 1
        closeReport()
    }

    /// RFC 3550 6.5.1.
    /// - Parameter cname: at most 255 bytes; the same in every report of a voice.
    mutating func sourceDescription(ssrc: UInt32, cname: [UInt8]) {
        precondition(cname.count <= 255)
        // The item's two bytes of head and at least one null end the chunk, filled up to whole words.
        let chunkByteCount = 4 + (2 + cname.count + 1 + 3) / 4 * 4
        writer.uint8(0x81)
        writer.uint8(202)
        writer.uint16(UInt16(chunkByteCount / 4))
        writer.uint32(ssrc)
        writer.uint8(1)  // CNAME
        writer.uint8(UInt8(cname.count))
        writer.bytes(cname)
        writer.zeros(chunkByteCount - 6 - cname.count)
    }

    /// RFC 3550 6.6.
    mutating func goodbye(ssrc: UInt32) {
        writer.uint8(0x81)
        writer.uint8(203)
        writer.uint16(1)
        writer.uint32(ssrc)
    }

    /// The compound packet's size in bytes, or nil where it did not fit.
    func finish() -> Int? { writer.finish() }

    /// A name for one voice, telling nothing of the machine: 96 random bits in base 64 (RFC 7022 5).
    static func cname(from entropy: inout Entropy) -> [UInt8] {
        Array(entropy.iceText(length: 16).utf8)
    }

    private mutating func begin(type: UInt16) {
        report = (writer.count, type, 0)
        writer.uint32(0)
    }

    /// Puts the report's head right after each part that was added to it.
    private mutating func closeReport() {
        guard !writer.overflowed else { return }
        writer.patch(uint16: (0x80 | report.blockCount) << 8 | report.type, at: report.offset)
        writer.patch(uint16: UInt16((writer.count - report.offset) / 4 - 1), at: report.offset + 2)
    }
}
