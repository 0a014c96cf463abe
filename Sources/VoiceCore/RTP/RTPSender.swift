/// One outgoing stream of Opus: numbers its packets, counts them, and says so in sender reports (RFC 3550 5.1, 6.4.1).
///
/// The VoiceEngine owns it, on the network thread. It never encrypts, and never allocates after its init.
struct RTPSender: Sendable {
    let ssrc: UInt32
    private var sequenceNumber: UInt16
    private var timestamp: UInt32
    private(set) var packetCount: UInt32 = 0
    private(set) var octetCount: UInt32 = 0
    private var last: (timestamp: UInt32, at: Instant)?
    private var reports: SentReports

    /// Identifier, sequence number and timestamp start at random (RFC 3550 5.1).
    init(entropy: Entropy) {
        var entropy = entropy
        ssrc = UInt32.random(in: 1 ... .max, using: &entropy)
        // Below 2^15, so that SRTP's rollover counter is not guessed wrong when the first packets are lost (RFC 3711 3.3.1).
        sequenceNumber = UInt16.random(in: 0..<0x8000, using: &entropy)
        timestamp = UInt32.random(in: .min ... .max, using: &entropy)
        reports = SentReports()
    }

    /// Writes the next packet.
    /// - Parameters:
    ///   - payload: one Opus packet.
    ///   - sampleCount: how long it sounds, in samples of 48 kHz: the next packet's timestamp is that much later.
    ///   - marker: the first packet after silence that was not sent (RFC 7587 4.1).
    ///   - buffer: takes 12 bytes more than the payload; what SRTP adds is not counted here.
    /// - Returns: the packet's size in bytes; nil where the buffer is too small, and then nothing is counted.
    mutating func packet(
        payload: UnsafeRawBufferPointer, payloadType: UInt8, sampleCount: Int, marker: Bool,
        into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> Int? {
        var writer = ByteWriter(buffer)
        writer.uint8(0x80)  // version 2, no padding, no extension, no contributing source
        writer.uint8((marker ? 0x80 : 0) | payloadType & 0x7F)
        writer.uint16(sequenceNumber)
        writer.uint32(timestamp)
        writer.uint32(ssrc)
        writer.bytes(payload)
        guard let byteCount = writer.finish() else { return nil }
        last = (timestamp, now)
        sequenceNumber &+= 1
        packetCount &+= 1
        octetCount &+= UInt32(truncatingIfNeeded: payload.count)
        skip(sampleCount: sampleCount)
        return byteCount
    }

    /// Lets the timestamp run on over sound that is not sent.
    mutating func skip(sampleCount: Int) {
        timestamp &+= UInt32(truncatingIfNeeded: sampleCount)
    }

    /// What the sender report says now; nil before the first packet, when a receiver report is due instead.
    /// - Parameter unixOffset: what has to be added to the monotonic clock to get the time since 1970.
    mutating func senderInfo(unixOffset: Duration, at now: Instant) -> SenderInfo? {
        guard let last else { return nil }
        let ntp = NTPTime(unixOffset: unixOffset, at: now)
        reports.add(middle: ntp.middle, at: now)
        return SenderInfo(
            ntp: ntp,
            rtpTimestamp: last.timestamp &+ UInt32(truncatingIfNeeded: (now - last.at).sampleCount),
            packetCount: packetCount, octetCount: octetCount)
    }

    /// The round trip that a report about this stream shows (RFC 3550 6.4.1).
    ///
    /// Measured on the monotonic clock against the report that was really sent, so that neither a step of the wall clock nor
    /// an invented LSR can spoil it.
    /// - Returns: nil where the block is not about this stream or names no report of ours, or a delay that cannot be.
    func roundTrip(from block: ReportBlock, at now: Instant) -> Duration? {
        guard block.ssrc == ssrc, let sentAt = reports.time(ofMiddle: block.lastSenderReport) else { return nil }
        let elapsed: Duration = now - sentAt
        let roundTrip = elapsed - Duration(in65536ths: block.delaySinceLastSenderReport)
        // A far end on the same machine rounds its delay up by as much as one unit.
        guard roundTrip > .microseconds(-16) else { return nil }
        return max(.zero, roundTrip)
    }
}

/// When the last few sender reports were sent, by the number that comes back as LSR.
private struct SentReports: Sendable {
    private static let capacity = 8
    private var sent: [(middle: UInt32, at: Instant)]
    private var next = 0

    init() {
        sent = Array(repeating: (0, Instant(nanoseconds: 0)), count: Self.capacity)
    }

    mutating func add(middle: UInt32, at now: Instant) {
        sent[next] = (middle, now)
        next = (next + 1) % Self.capacity
    }

    /// LSR 0 says "none" (RFC 3550 6.4.1).
    func time(ofMiddle middle: UInt32) -> Instant? {
        guard middle != 0 else { return nil }
        for report in sent where report.middle == middle { return report.at }
        return nil
    }
}
