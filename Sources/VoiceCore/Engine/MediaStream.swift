/// The media of a voice: one Opus stream each way, its reports, and the SRTP around them.
///
/// Part of the engine and as pure; in a steady call nothing here allocates but libsrtp2 itself.
struct MediaStream: ~Copyable {
    let cname: String
    private let nameBytes: [UInt8]
    private let unixOffset: Duration
    private let entropy: Entropy
    private var payloadType: UInt8 = 0
    private var srtp: SRTPTransport?
    private var sender: RTPSender
    private var receivers = RTPReceivers()
    private var schedule: RTCPSchedule?
    /// Whether a packet went out since the last report: a sender report is due then.
    private var hasSent = false
    private var isFirstPacket = true

    init(entropy: inout Entropy, unixOffset: Duration) {
        self.entropy = entropy
        self.unixOffset = unixOffset
        nameBytes = RTCPWriter.cname(from: &entropy)
        cname = String(decoding: nameBytes, as: UTF8.self)
        sender = RTPSender(entropy: entropy)
    }

    var ssrc: UInt32 { sender.ssrc }

    /// When `report` is wanted.
    var reportDeadline: Instant? { schedule?.deadline }

    /// What Opus goes under, both ways.
    mutating func negotiated(payloadType: UInt8) {
        self.payloadType = payloadType
    }

    /// DTLS gave the keys: media may flow.
    mutating func start(_ keys: SRTPKeys, at now: Instant) throws(SRTPError) {
        srtp = try SRTPTransport(keys)
        schedule = RTCPSchedule(bitsPerSecond: 40_000, usesReducedMinimum: true, entropy: entropy, at: now)
    }

    /// One outgoing packet.
    /// - Returns: its size in `buffer`; nil where it cannot be sent.
    mutating func packet(
        _ payload: UnsafeRawBufferPointer, sampleCount: Int, into buffer: UnsafeMutableRawBufferPointer, at now: Instant
    ) -> Int? {
        guard srtp != nil,
            let byteCount = sender.packet(
                payload: payload, payloadType: payloadType, sampleCount: sampleCount, marker: isFirstPacket,
                into: buffer, at: now)
        else { return nil }
        isFirstPacket = false
        hasSent = true
        return try? srtp?.protectRTP(buffer, count: byteCount)
    }

    /// One RTP or RTCP datagram from a validated route, decrypted in place.
    /// - Returns: whether it was authentic.
    mutating func receive<Sink: EngineSink & ~Copyable>(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int, at now: Instant,
        counting statistics: inout EngineStatistics,
        into sink: inout Sink
    ) -> Bool {
        guard srtp != nil else {
            statistics.strayMedia &+= 1
            return false
        }
        let isReport = DatagramKind(UnsafeRawBufferPointer(rebasing: buffer[..<count])) == .rtcp
        do {
            if isReport {
                guard let plain = try srtp?.unprotectRTCP(buffer, count: count) else { return false }
                receiveReports(
                    UnsafeRawBufferPointer(rebasing: buffer[..<plain]), at: now, counting: &statistics, into: &sink)
            } else {
                guard let plain = try srtp?.unprotectRTP(buffer, count: count) else { return false }
                receivePacket(
                    UnsafeRawBufferPointer(rebasing: buffer[..<plain]), at: now, counting: &statistics, into: &sink)
            }
            return true
        } catch {
            statistics.rejectedMedia &+= 1
            return false
        }
    }

    private mutating func receivePacket<Sink: EngineSink & ~Copyable>(
        _ packet: UnsafeRawBufferPointer, at now: Instant, counting statistics: inout EngineStatistics,
        into sink: inout Sink
    ) {
        guard let header = try? RTPHeader(parsing: packet), header.payloadType == payloadType else {
            statistics.malformedMedia &+= 1
            return
        }
        statistics.receivedPackets &+= 1
        guard receivers.receive(header, at: now) == .heard, !header.payload.isEmpty else { return }
        sink.play(UnsafeRawBufferPointer(rebasing: packet[header.payload]), header, arrivedAt: now)
    }

    private mutating func receiveReports<Sink: EngineSink & ~Copyable>(
        _ packet: UnsafeRawBufferPointer, at now: Instant, counting statistics: inout EngineStatistics,
        into sink: inout Sink
    ) {
        schedule?.received(byteCount: packet.count)
        var reader = RTCPReader(packet)
        do {
            while let part = try reader.next() {
                switch part {
                case .senderReport(let ssrc, let info, let blocks):
                    receivers.receive(info, from: ssrc, at: now)
                    for block in blocks { note(block, at: now, into: &sink) }
                case .receiverReport(_, let blocks):
                    for block in blocks { note(block, at: now, into: &sink) }
                case .sourceDescription, .goodbye, .feedback, .unknown:
                    break  // the end is told by DTLS, which a BYE only announces
                }
            }
        } catch {
            statistics.malformedMedia &+= 1
        }
    }

    private func note<Sink: EngineSink & ~Copyable>(_ block: ReportBlock, at now: Instant, into sink: inout Sink) {
        guard block.ssrc == sender.ssrc else { return }
        sink.report(
            .senderReport(
                SenderQuality(
                    fractionLost: Double(block.fractionLost) / 256, roundTrip: sender.roundTrip(from: block, at: now))))
    }

    /// The report that is due, encrypted; the next is scheduled.
    /// - Returns: its size in `buffer`; nil where there is none.
    mutating func report(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Int? {
        guard schedule != nil, let byteCount = compound(into: buffer, saysGoodbye: false, at: now) else { return nil }
        schedule?.sent(byteCount: byteCount, at: now)
        return try? srtp?.protectRTCP(buffer, count: byteCount)
    }

    /// The last report, with a BYE, encrypted.
    /// - Returns: its size in `buffer`; nil where media never flowed.
    mutating func goodbye(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Int? {
        guard srtp != nil, let byteCount = compound(into: buffer, saysGoodbye: true, at: now) else { return nil }
        return try? srtp?.protectRTCP(buffer, count: byteCount)
    }

    private mutating func compound(
        into buffer: UnsafeMutableRawBufferPointer, saysGoodbye: Bool, at now: Instant
    ) -> Int? {
        var writer = RTCPWriter(into: buffer)
        if hasSent, let info = sender.senderInfo(unixOffset: unixOffset, at: now) {
            writer.senderReport(ssrc: ssrc, info)
        } else {
            writer.receiverReport(ssrc: ssrc)
        }
        hasSent = false
        if let block = receivers.reportBlock(at: now) { writer.add(block) }
        writer.sourceDescription(ssrc: ssrc, cname: nameBytes)
        if saysGoodbye { writer.goodbye(ssrc: ssrc) }
        return writer.finish()
    }
}
