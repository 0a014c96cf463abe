/// Sends messages as DATA chunks until they have arrived: TSNs, acknowledgements, loss, congestion (RFC 9260 6 and 7).
///
/// A part of the association. What it holds is bounded: by `capacity` before it is sent, by the congestion window and a count of
/// chunks after.
///
/// A chunk counts as lost when one that left three packets later has come: RFC 9260 7.2.4 waits for three reports of a gap, but reports
/// are lost as well (RFC 9002 6.1.1 counts packets for that reason). That serves chunks which were sent again too.
struct DataSender {
    private var queue = SendQueue()
    private var outstanding = FIFO<OutstandingChunk>()
    private(set) var nextTSN: UInt32
    private(set) var timeout: RetransmissionTimeout
    /// When what is on its way counts as lost (T3-rtx).
    private(set) var retransmitAt: Instant?
    private var congestion: CongestionControl
    private var peerWindow = 0
    private var inFlightByteCount = 0
    private var lostCount = 0
    /// The first that may be lost.
    private var firstLost = 0
    private var hasArrivedChunks = false
    /// Behind the highest that was reported behind a gap.
    private var arrivedEnd: UInt32
    private var packetNumber: UInt64 = 0
    /// The highest number of a packet from which something has come.
    private var newestArrival: UInt64 = 0
    /// Until this TSN is acknowledged, one more loss belongs to the same congestion (RFC 9260 7.2.4).
    private var recoveryEnd: UInt32?
    /// One chunk more than the window allows: the first that is sent again after a loss (RFC 9260 7.2.4, item 3).
    private var mayExceedWindow = false
    /// The chunk whose round trip is measured.
    private var timed: (tsn: UInt32, sentAt: Instant)?
    private let largestChunk: Int

    /// What may wait to be sent: 1 MiB in messages of 256 KiB, twice.
    static let capacity = 2_097_152
    /// A chunk costs 100 bytes beside what it carries.
    private static let outstandingLimit = 8_192

    /// - Parameter largestChunk: payload bytes that fit into a packet of their own.
    init(firstTSN: UInt32, largestChunk: Int, roundTrip: Duration?) {
        nextTSN = firstTSN
        arrivedEnd = firstTSN
        self.largestChunk = largestChunk
        congestion = CongestionControl(packetByteCount: largestChunk)
        timeout = RetransmissionTimeout(roundTrip: roundTrip)
    }

    /// Whether everything has been sent and acknowledged.
    var isIdle: Bool { queue.isEmpty && outstanding.isEmpty }
    var hasOutstanding: Bool { !outstanding.isEmpty }
    var queuedByteCount: Int { queue.byteCount }
    /// The last TSN that was given out.
    var lastTSN: UInt32 { nextTSN &- 1 }

    /// - Returns: false where there is no room for it.
    mutating func append(_ message: SCTPMessage) -> Bool {
        guard queue.byteCount + message.bytes.count + SendQueue.overhead <= Self.capacity else { return false }
        queue.append(message)
        return true
    }

    mutating func peerAnnounced(window: UInt32) {
        peerWindow = Int(min(window, UInt32(Int32.max)))
    }

    /// Whether something of `stream` has not arrived yet.
    func isBusy(_ stream: UInt16) -> Bool {
        queue.holds(stream) || outstanding.indices.contains { outstanding[$0].stream == stream }
    }

    mutating func reset(_ streams: [UInt16]) {
        queue.reset(streams)
    }

    // MARK: Out

    /// Whether `fill` would put something into a packet.
    var wantsToSend: Bool {
        if lostCount > 0 { return mayExceedWindow || inFlightByteCount < congestion.window }
        return maySendNew
    }

    private var maySendNew: Bool {
        guard let byteCount = queue.nextByteCount, outstanding.count < Self.outstandingLimit else { return false }
        // One chunk goes out where the peer has no room, to learn when it has (RFC 9260 6.1, rule A).
        if inFlightByteCount == 0 { return true }
        return inFlightByteCount < congestion.window && min(byteCount, largestChunk) <= peerWindow
    }

    /// Fills what is left of a packet: first what was lost, then what is new.
    mutating func fill(_ writer: inout SCTPPacketWriter, at now: Instant) {
        guard wantsToSend else { return }
        packetNumber += 1
        let isFirst = writer.isEmpty
        if sendLost(&writer) { startTimer(at: now) }
        if lostCount == 0, sendNew(&writer, isFirst: isFirst, at: now), retransmitAt == nil { startTimer(at: now) }
        mayExceedWindow = false
    }

    private mutating func sendLost(_ writer: inout SCTPPacketWriter) -> Bool {
        var hasSent = false
        while lostCount > 0, firstLost < outstanding.count {
            guard outstanding[firstLost].fate == .lost else {
                firstLost += 1
                continue
            }
            let byteCount = outstanding[firstLost].byteCount
            guard byteCount + 12 <= writer.remaining, mayExceedWindow || inFlightByteCount < congestion.window else {
                break
            }
            lostCount -= 1
            inFlightByteCount += byteCount
            outstanding[firstLost].fate = .inFlight
            outstanding[firstLost].packet = packetNumber
            outstanding[firstLost].wasSentAgain = true
            outstanding[firstLost].write(to: &writer, wantsSack: lostCount == 0 && queue.isEmpty)
            hasSent = true
        }
        return hasSent
    }

    private mutating func sendNew(_ writer: inout SCTPPacketWriter, isFirst: Bool, at now: Instant) -> Bool {
        var hasSent = false
        while maySendNew, let byteCount = queue.nextByteCount {
            let room = writer.remaining - 12
            // A message is not cut into small pieces only to fill packets up.
            guard byteCount <= room || !hasSent && room >= min(largestChunk, 512),
                let chunk = queue.nextChunk(
                    limit: min(room, largestChunk), tsn: nextTSN, packet: packetNumber)
            else { break }
            nextTSN &+= 1
            inFlightByteCount += chunk.byteCount
            peerWindow = max(0, peerWindow - chunk.byteCount)
            if timed == nil { timed = (chunk.tsn, now) }
            outstanding.append(chunk)
            chunk.write(to: &writer, wantsSack: !maySendNew)
            hasSent = true
        }
        return hasSent
    }

    private mutating func startTimer(at now: Instant) {
        retransmitAt = now + timeout.value
    }

    // MARK: In

    /// The timer has run out: all that is on its way is taken for lost (RFC 9260 6.3.3).
    mutating func handleTimeout(at now: Instant) {
        guard let due = retransmitAt, due <= now else { return }
        retransmitAt = nil
        guard !outstanding.isEmpty else { return }
        timeout.backOff()
        congestion.timedOut()
        loseAll()
        recoveryEnd = nil
    }

    /// The handshake was not answered in time; what is measured then is not to be trusted either.
    mutating func backOff() {
        timeout.backOff()
        timed = nil
    }

    /// All that is on its way is to be sent again, as after a COOKIE ECHO that got lost with it.
    mutating func loseAll() {
        for index in outstanding.indices where outstanding[index].fate == .inFlight { lose(index) }
        mayExceedWindow = true
    }

    private mutating func lose(_ index: Int) {
        inFlightByteCount -= outstanding[index].byteCount
        outstanding[index].fate = .lost
        lostCount += 1
        firstLost = min(firstLost, index)
        if timed?.tsn == outstanding[index].tsn { timed = nil }
    }

    /// SHUTDOWN says what has come, but neither gaps nor a window (RFC 9260 9.2).
    mutating func receive(cumulativeTSN: UInt32, at now: Instant) -> Bool {
        let window = UInt32(clamping: peerWindow + inFlightByteCount)
        return receive(SCTPSackChunk(cumulativeTSN: cumulativeTSN, window: window), at: now)
    }

    mutating func pathMeasured(_ roundTrip: Duration) {
        timeout = RetransmissionTimeout(roundTrip: roundTrip)
    }

    mutating func measured(_ roundTrip: Duration) {
        timeout.measured(roundTrip)
    }

    /// An acknowledgement came.
    /// - Returns: false where it acknowledges what was never sent; the association cannot go on.
    mutating func receive(_ sack: SCTPSackChunk, at now: Instant) -> Bool {
        guard sack.cumulativeTSN.precedes(nextTSN) else { return false }
        // An old one, overtaken by a newer (RFC 9260 6.2.1, D i).
        if let first = outstanding.first, sack.cumulativeTSN.precedes(first.tsn &- 1) { return true }
        guard !outstanding.isEmpty || sack.cumulativeTSN == lastTSN else { return true }

        // What is queued and could not be sent for the window's sake counts as having used it.
        let wasFull = inFlightByteCount >= congestion.window || !queue.isEmpty
        var acknowledged = 0
        let hasAdvanced = takeCumulative(upTo: sack.cumulativeTSN, at: now, counting: &acknowledged)
        if sack.hasGaps || hasArrivedChunks { takeBlocks(sack, at: now, counting: &acknowledged) }
        if let end = recoveryEnd, !sack.cumulativeTSN.precedes(end) { recoveryEnd = nil }
        if acknowledged > 0, recoveryEnd == nil, hasAdvanced {
            congestion.acknowledged(acknowledged, wasFull: wasFull)
        }
        if acknowledged > 0 { findLost() }
        peerWindow = max(0, Int(min(sack.window, UInt32(Int32.max))) - inFlightByteCount)
        if outstanding.isEmpty {
            retransmitAt = nil
            congestion.cameToRest()
        } else if hasAdvanced {
            startTimer(at: now)
        }
        return true
    }

    private mutating func takeCumulative(upTo tsn: UInt32, at now: Instant, counting acknowledged: inout Int) -> Bool {
        var count = 0
        while let first = outstanding.first, !tsn.precedes(first.tsn) {
            if first.fate != .arrived { arrived(0, at: now, counting: &acknowledged) }
            outstanding[0].message = []
            _ = outstanding.removeFirst()
            count += 1
        }
        firstLost = max(0, firstLost - count)
        return count > 0
    }

    private mutating func arrived(_ index: Int, at now: Instant, counting acknowledged: inout Int) {
        acknowledged += outstanding[index].byteCount
        newestArrival = max(newestArrival, outstanding[index].packet)
        switch outstanding[index].fate {
        case .inFlight: inFlightByteCount -= outstanding[index].byteCount
        case .lost: lostCount -= 1
        case .arrived: break
        }
        outstanding[index].fate = .arrived
        if let measured = timed, measured.tsn == outstanding[index].tsn {
            // Karn's rule (RFC 9260 6.3.1, C5): `lose` has forgotten what was sent again.
            timeout.measured(now - measured.sentAt)
            timed = nil
        }
    }

    /// What came behind gaps. A peer may also say that it does not hold any more what it reported before (RFC 9260 6.2.1, D iii).
    /// Blocks out of their order are passed over, so that each chunk is looked at once.
    private mutating func takeBlocks(
        _ sack: SCTPSackChunk, at now: Instant, counting acknowledged: inout Int
    ) {
        var sack = sack
        hasArrivedChunks = false
        var block = sack.nextBlock()
        for index in outstanding.indices {
            let offset = outstanding[index].tsn &- sack.cumulativeTSN
            while let passed = block, UInt32(passed.last) < offset { block = sack.nextBlock() }
            // Where nothing is reported any more, and never was.
            if block == nil, !outstanding[index].tsn.precedes(arrivedEnd) { break }
            let isCovered = block.map { UInt32($0.first) <= offset && offset <= UInt32($0.last) } ?? false
            if isCovered {
                hasArrivedChunks = true
                if !outstanding[index].tsn.precedes(arrivedEnd) { arrivedEnd = outstanding[index].tsn &+ 1 }
                if outstanding[index].fate != .arrived { arrived(index, at: now, counting: &acknowledged) }
            } else if outstanding[index].fate == .arrived {
                inFlightByteCount += outstanding[index].byteCount
                outstanding[index].fate = .inFlight
            }
        }
    }

    private mutating func findLost() {
        guard newestArrival >= 3, let first = outstanding.first,
            hasArrivedChunks || first.packet <= newestArrival - 3
        else { return }
        var hasLost = false
        for index in outstanding.indices {
            guard outstanding[index].packet <= newestArrival - 3 else {
                // All behind one that went out once have left later.
                if outstanding[index].wasSentAgain { continue } else { break }
            }
            guard outstanding[index].fate == .inFlight else { continue }
            lose(index)
            hasLost = true
        }
        guard hasLost else { return }
        // The first in line goes out at once, with a timer of its own (RFC 9260 7.2.4, items 3 and 4).
        mayExceedWindow = true
        if recoveryEnd == nil {
            congestion.lost()
            recoveryEnd = lastTSN
        }
    }
}
