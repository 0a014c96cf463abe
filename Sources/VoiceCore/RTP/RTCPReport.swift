/// A time in the format of NTP: seconds since 1900 and their 2^-32 parts (RFC 3550 4). It wraps in 2036, as the RFC allows.
struct NTPTime: Equatable, Sendable {
    var seconds: UInt32
    var fraction: UInt32

    init(seconds: UInt32, fraction: UInt32) {
        self.seconds = seconds
        self.fraction = fraction
    }

    /// - Parameter unixOffset: what has to be added to the monotonic clock to get the time since 1970.
    init(unixOffset: Duration, at now: Instant) {
        let nanoseconds = UInt64(max(0, (now + unixOffset).nanoseconds))
        let unixSeconds = nanoseconds / 1_000_000_000
        seconds = UInt32(truncatingIfNeeded: unixSeconds &+ 2_208_988_800)  // 1900 to 1970, RFC 5905 6
        fraction = UInt32(truncatingIfNeeded: ((nanoseconds % 1_000_000_000) << 32) / 1_000_000_000)
    }

    /// The middle 32 bits, as LSR carries them (RFC 3550 6.4.1).
    var middle: UInt32 { seconds << 16 | fraction >> 16 }
}

/// What a sender says of itself in a sender report (RFC 3550 6.4.1).
struct SenderInfo: Equatable, Sendable {
    var ntp: NTPTime
    /// The same moment on the stream's own clock.
    var rtpTimestamp: UInt32
    var packetCount: UInt32
    /// Payload only.
    var octetCount: UInt32
}

/// What a receiver says of one stream it hears (RFC 3550 6.4.1).
struct ReportBlock: Equatable, Sendable {
    static let byteCount = 24

    /// The stream spoken of.
    var ssrc: UInt32
    /// Lost of 256 since the report before.
    var fractionLost: UInt8
    /// Lost since the start, 24 bits and a sign; negative with duplicates.
    var cumulativeLost: Int32
    /// The highest sequence number, its wraps in the upper 16 bits.
    var extendedSequence: UInt32
    /// In timestamp units.
    var jitter: UInt32
    /// The middle of the last sender report's NTP time; 0: none came.
    var lastSenderReport: UInt32
    /// Since that report came, in 1/65536 s.
    var delaySinceLastSenderReport: UInt32
}

extension Duration {
    /// In units of 1/65536 s, as DLSR counts (RFC 3550 6.4.1); clamped to 32 bits.
    var in65536ths: UInt32 {
        let nanoseconds = UInt64(max(0, wholeNanoseconds))
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return UInt32(clamping: (seconds << 16) + (rest << 16) / 1_000_000_000)
    }

    init(in65536ths count: UInt32) {
        self = .nanoseconds((Int64(count) * 1_000_000_000) >> 16)
    }
}
