/// How long to wait for an answer before something is sent again (RFC 9260 6.3.1, the form of RFC 6298).
struct RetransmissionTimeout {
    private(set) var value: Duration
    private(set) var smoothed: Duration?
    private var variation = Duration.zero

    /// RFC 9260 16 proposes 1 s, made for peers that acknowledge late and for clocks of half a second. Ours ask to be acknowledged at
    /// once (RFC 7053), and those that do not heed it do so within 200 ms (RFC 9260 6.2), which the measured time then has in it.
    /// 200 ms is what TCP has in Linux (TCP_RTO_MIN).
    static let minimum = Duration.milliseconds(200)
    /// RFC 9260 16 proposes 60 s. A path that comes back after a moment shall not be noticed that late, and ICE ends the voice when it
    /// has been gone for 30 s. It is also DTLS's longest wait.
    static let maximum = Duration.seconds(3)

    /// - Parameter roundTrip: what ICE has measured on the path; nil: nothing is known of it.
    init(roundTrip: Duration?) {
        // RFC 9260 16 proposes 1 s where nothing is known. A first measurement R gives 3 R (RFC 9260 6.3.1).
        value = min(max(roundTrip.map { $0 * 3 } ?? .seconds(1), Self.minimum), .seconds(1))
    }

    /// RFC 9260 6.3.1, C2 and C3.
    mutating func measured(_ roundTrip: Duration) {
        guard roundTrip >= .zero else { return }
        if let old = smoothed {
            let difference = roundTrip > old ? roundTrip - old : old - roundTrip
            variation = variation * 3 / 4 + difference / 4
            smoothed = old * 7 / 8 + roundTrip / 8
        } else {
            smoothed = roundTrip
            variation = roundTrip / 2
        }
        value = min(max((smoothed ?? roundTrip) + variation * 4, Self.minimum), Self.maximum)
    }

    /// RFC 9260 6.3.3, E2.
    mutating func backOff() {
        value = min(value * 2, Self.maximum)
    }
}

/// How much may be on its way at a time (RFC 9260 7.2).
struct CongestionControl {
    private(set) var window: Int
    private var threshold: Int
    private var partlyAcknowledged = 0
    private let packetByteCount: Int

    /// Beyond this the window does not grow: a receiver's socket holds 208 KiB unless it was told otherwise (Linux's rmem_default), and
    /// a path of 100 ms carries more than 2 MB/s with it.
    static let maximum = 262_144

    /// - Parameter packetByteCount: what one packet carries at most.
    init(packetByteCount: Int) {
        self.packetByteCount = packetByteCount
        window = 10 * packetByteCount  // RFC 6928 2, as other WebRTC stacks do; RFC 9260 7.2.1 has 4,404 bytes
        threshold = Self.maximum
    }

    /// RFC 9260 7.2.1 and 7.2.2: the cumulative acknowledgement went on.
    /// - Parameters:
    ///   - byteCount: what was acknowledged, gaps included.
    ///   - wasFull: whether all that was allowed had been on its way.
    mutating func acknowledged(_ byteCount: Int, wasFull: Bool) {
        if window <= threshold {
            if wasFull { window += min(byteCount, packetByteCount) }
        } else {
            partlyAcknowledged += byteCount
            if partlyAcknowledged >= window, wasFull {
                partlyAcknowledged -= window
                window += packetByteCount
            }
        }
        window = min(window, Self.maximum)
    }

    /// RFC 9260 7.2.3: three later packets came before one.
    mutating func lost() {
        threshold = max(window / 2, 4 * packetByteCount)
        window = threshold
        partlyAcknowledged = 0
    }

    /// RFC 9260 7.2.3: nothing came back in time.
    mutating func timedOut() {
        threshold = max(window / 2, 4 * packetByteCount)
        window = packetByteCount
        partlyAcknowledged = 0
    }

    /// Everything was acknowledged: what did not fill the window does not count (RFC 9260 7.2.2).
    mutating func cameToRest() {
        partlyAcknowledged = 0
    }
}
