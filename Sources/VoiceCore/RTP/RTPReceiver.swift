/// The statistics of one incoming stream: which packets are valid, how many are lost, how much they jitter (RFC 3550 A.1, A.3, A.8).
///
/// An `RTPReceivers` owns it. The packets come authenticated by SRTP, so that the first is believed at once: A.1's probation
/// is left out. A jump of the sequence is believed at the second packet in a row, as in A.1. It never allocates.
struct RTPReceiver: Sendable {
    enum Verdict: Equatable, Sendable {
        case accepted
        /// The far end began anew with other numbers; this is the second packet that says so.
        case restarted
        /// Far outside the sequence, and nothing has confirmed it yet.
        case discarded
    }

    // RFC 3550 A.1
    private static let maximumDropout: UInt16 = 3000
    private static let maximumMisorder: UInt16 = 100

    let ssrc: UInt32
    private var highest: UInt16
    private var cycles: UInt32 = 0
    private var first: UInt32
    /// The sequence number that would confirm a restart.
    private var restart: UInt16?
    private(set) var receivedCount: UInt32 = 0
    private var priorExpected: UInt32 = 0
    private var priorReceived: UInt32 = 0
    private var transit: UInt32?
    /// 16 times the jitter, in timestamp units (RFC 3550 A.8).
    private var scaledJitter: UInt64 = 0
    private(set) var lastPacketAt: Instant
    private var senderReport: (middle: UInt32, at: Instant)?

    /// - Parameter header: that of the stream's first packet, which is to be handed to `receive` as well.
    init(_ header: RTPHeader, at now: Instant) {
        ssrc = header.ssrc
        highest = header.sequenceNumber
        first = UInt32(header.sequenceNumber)
        lastPacketAt = now
    }

    /// Takes one packet into account.
    mutating func receive(_ header: RTPHeader, at now: Instant) -> Verdict {
        let verdict = place(header.sequenceNumber)
        guard verdict != .discarded else { return verdict }
        lastPacketAt = now
        receivedCount &+= 1
        // RFC 3550 A.8; the clock's numbers wrap with those of the timestamps.
        let newTransit = UInt32(truncatingIfNeeded: now.sampleCount) &- header.timestamp
        if let transit {
            let difference = UInt64(Int32(bitPattern: newTransit &- transit).magnitude)
            scaledJitter = scaledJitter + difference - (scaledJitter + 8) >> 4
        }
        transit = newTransit
        return verdict
    }

    /// Remembers the far end's sender report, which our next report answers.
    mutating func receive(_ info: SenderInfo, at now: Instant) {
        senderReport = (info.ntp.middle, now)
    }

    /// The highest sequence number seen, its wraps in the upper half.
    var extendedSequence: UInt32 { cycles &+ UInt32(highest) }

    /// In samples of 48 kHz.
    var jitter: UInt32 { UInt32(clamping: scaledJitter >> 4) }

    /// RFC 3550 A.3: what was expected less what came, in 24 bits with a sign.
    var cumulativeLost: Int32 {
        let lost = Int64(expected) - Int64(receivedCount)
        return Int32(min(max(lost, -0x80_0000), 0x7F_FFFF))
    }

    /// What is to be reported now; the fraction counts from here to the next call.
    mutating func reportBlock(at now: Instant) -> ReportBlock {
        let expectedInterval = expected &- priorExpected
        let lostInterval = Int64(expectedInterval) - Int64(receivedCount &- priorReceived)
        priorExpected = expected
        priorReceived = receivedCount
        // RFC 3550 A.3; all lost would be 256 of 256, one more than the field holds.
        let fraction = expectedInterval == 0 || lostInterval <= 0 ? 0 : (lostInterval << 8) / Int64(expectedInterval)
        return ReportBlock(
            ssrc: ssrc, fractionLost: UInt8(clamping: fraction), cumulativeLost: cumulativeLost,
            extendedSequence: extendedSequence, jitter: jitter,
            lastSenderReport: senderReport?.middle ?? 0,
            delaySinceLastSenderReport: senderReport.map { (now - $0.at).in65536ths } ?? 0)
    }

    private var expected: UInt32 { extendedSequence &- first &+ 1 }

    /// RFC 3550 A.1, update_seq.
    private mutating func place(_ sequenceNumber: UInt16) -> Verdict {
        let step = sequenceNumber &- highest
        if step < Self.maximumDropout {
            if sequenceNumber < highest { cycles &+= 0x1_0000 }
            highest = sequenceNumber
        } else if step <= 0 &- Self.maximumMisorder {
            guard sequenceNumber == restart else {
                restart = sequenceNumber &+ 1
                return .discarded
            }
            begin(at: sequenceNumber)
            return .restarted
        }
        restart = nil
        return .accepted
    }

    /// RFC 3550 A.1, init_seq.
    private mutating func begin(at sequenceNumber: UInt16) {
        highest = sequenceNumber
        cycles = 0
        first = UInt32(sequenceNumber)
        restart = nil
        receivedCount = 0
        priorExpected = 0
        priorReceived = 0
        transit = nil
    }
}

extension Instant {
    /// The clock in samples of 48 kHz; whole microseconds, so that the product does not overflow for 6,000 years.
    var sampleCount: Int64 { nanoseconds / 1000 * 48 / 1000 }
}

extension Duration {
    /// In samples of 48 kHz, towards zero.
    var sampleCount: Int64 { wholeNanoseconds / 1000 * 48 / 1000 }

    init(sampleCount: Int64) {
        self = .microseconds(sampleCount * 1000 / 48)
    }
}
