/// When the next RTCP report is due (RFC 3550 6.2 and 6.3).
///
/// The VoiceEngine owns it. A voice has two members who share the RTCP bandwidth (6.2: with more senders than a quarter of the
/// members there is one share for all). Reconsideration (6.3.3) is left out, because the membership never changes; a BYE is sent at
/// once, as 6.3.7 allows for fewer than 50 members.
struct RTCPSchedule: Sendable {
    // RFC 3550 6.2, 6.3.1, A.7
    private static let memberCount = 2.0
    private static let bandwidthShare = 0.05
    private static let minimum = 5.0
    private static let compensation = 2.71828 - 1.5
    /// What IPv4 and UDP add to each packet; they count (6.2).
    private static let lowerHeaderByteCount = 28.0

    private let bytesPerSecond: Double
    private let minimumSeconds: Double
    private var averageByteCount: Double
    private var entropy: Entropy
    /// When the next report is to be sent.
    private(set) var deadline: Instant

    /// - Parameters:
    ///   - bitsPerSecond: the session's bandwidth, one direction.
    ///   - usesReducedMinimum: 360 s divided by the bandwidth in kbit/s where that is less than 5 s (RFC 3550 6.2).
    init(bitsPerSecond: Int, usesReducedMinimum: Bool, entropy: Entropy, at now: Instant) {
        let bandwidth = Double(max(1000, bitsPerSecond))
        bytesPerSecond = bandwidth / 8 * Self.bandwidthShare
        minimumSeconds = usesReducedMinimum ? min(Self.minimum, 360_000 / bandwidth) : Self.minimum
        // 6.3.2: the size that the first report will probably have (SR with one block, and the name).
        averageByteCount = 100 + Self.lowerHeaderByteCount
        self.entropy = entropy
        deadline = now
        deadline = now + interval(minimumSeconds: minimumSeconds / 2)  // 6.2: half for the first
    }

    /// A report was sent; the next one is due an interval later.
    mutating func sent(byteCount: Int, at now: Instant) {
        average(byteCount)
        deadline = now + interval(minimumSeconds: minimumSeconds)
    }

    /// The far end's reports count in the average too (6.3.3).
    mutating func received(byteCount: Int) {
        average(byteCount)
    }

    private mutating func average(_ byteCount: Int) {
        averageByteCount += (Double(byteCount) + Self.lowerHeaderByteCount - averageByteCount) / 16  // 6.3.3
    }

    /// RFC 3550 6.3.1.
    private mutating func interval(minimumSeconds: Double) -> Duration {
        let seconds = max(minimumSeconds, Self.memberCount * averageByteCount / bytesPerSecond)
        let spread = seconds * Double.random(in: 0.5..<1.5, using: &entropy) / Self.compensation
        return .milliseconds(Int64(spread * 1000))
    }
}
