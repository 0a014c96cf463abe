/// What an encoder is set to for the loss that the other side's reports tell of (RFC 3550 6.4.1).
///
/// The capture thread owns it. On a clean line in-band FEC is off, since its copies take bits from the sound; while packets are lost it is
/// on, made for a loss a little above what is seen, and with more bits, so that the sound keeps what it had. It turns on at one bad report and off
/// after several good ones. A loss that is expected whatever the reports say can be set.
struct ExpectedLoss: Sendable {
    /// From one report of this share on there is FEC; two packets lost by chance in the 5 s of a report are less.
    private static let onShare = 0.02
    /// Below this, as many reports in a row turn it off.
    private static let offShare = 0.01
    private static let calmReportCount = 3
    /// How much of the past counts where less is lost than before.
    private static let memory = 0.7
    /// What the copies are made for, in percent, and the share up to which; few levels, so that the sound seldom changes.
    private static let levels: [(percent: Int, upTo: Double)] = [(10, 0.1), (20, 0.2), (30, 1)]
    /// A level is left for a lower one only where the loss is this much below what the lower one is for.
    private static let descent = 0.7
    /// In half again as many bits sound and copies are about as good as the sound alone (32 and 48 kbit/s).
    private static let growth = (numerator: 3, denominator: 2)
    private static let mostBitsPerSecond = 128_000

    private let leastPercent: Int
    private let calmBitsPerSecond: Int
    private var share = 0.0
    private var calmReports = 0
    private var level: Int?

    /// - Parameters:
    ///   - leastPercent: the loss that is expected whatever the reports say; 0 for none.
    ///   - bitsPerSecond: on a clean line.
    init(leastPercent: Int, bitsPerSecond: Int) {
        self.leastPercent = leastPercent
        calmBitsPerSecond = bitsPerSecond
    }

    /// What the encoder is to be told; FEC is off at 0.
    var percent: Int { max(leastPercent, level.map { Self.levels[$0].percent } ?? 0) }

    var bitsPerSecond: Int {
        guard level != nil else { return calmBitsPerSecond }
        let grown = calmBitsPerSecond * Self.growth.numerator / Self.growth.denominator
        return max(calmBitsPerSecond, min(grown, Self.mostBitsPerSecond))
    }

    /// Takes a report into account.
    /// - Parameter lost: the share of packets lost since the report before, 0 to 1.
    /// - Returns: whether `percent` or `bitsPerSecond` are others now.
    mutating func report(lost: Double) -> Bool {
        let before = level
        share = lost >= share ? lost : share * Self.memory + lost * (1 - Self.memory)
        calmReports = lost < Self.offShare ? calmReports + 1 : 0
        let wanted = Self.levels.firstIndex { share <= $0.upTo } ?? Self.levels.count - 1
        if let current = level {
            if calmReports >= Self.calmReportCount {
                level = nil
                share = 0
            } else if wanted > current || share < Self.descent * Self.levels[wanted].upTo {
                level = wanted
            }
        } else if lost >= Self.onShare {
            level = wanted
        }
        return level != before
    }
}
