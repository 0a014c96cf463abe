/// One SCTP association (RFC 9260) over a transport that keeps packets whole and knows who sends them: DTLS (RFC 8261).
///
/// Owned by the data channels, on the network thread. Packets, messages and times come in; packets, events and a deadline go out. After
/// each call the owner drains `nextPacket(into:at:)` and `nextEvent()` and looks at `deadline`. Whatever the peer sends, it never
/// traps, and holds no more than the bounds say; without messages it does not allocate.
///
/// Left out, and why:
/// - more than one path: ICE chooses it (RFC 8261 6.1); and giving up after so many retransmissions: ICE judges the path, and ends the
///   voice where it is gone for 30 s;
/// - giving up messages of our own (RFC 3758): what we send is small and wanted; the peer's FORWARD TSN is understood;
/// - I-DATA (RFC 8260), zero checksums (RFC 9653) and authentication (RFC 4895), which no data channel needs.
///
/// The parts: `+Handshake` begins it, `+Receive` reads packets, `+Data` takes messages and acknowledgements, `+Transmit` writes packets,
/// `+End` ends it.
struct SCTPAssociation {
    /// How far it is; what belongs to it stands beside.
    enum Phase: Equatable, Sendable {
        /// Not begun.
        case idle
        case cookieWait
        case cookieEchoed
        case established
        /// The rest is sent before the peer is told (RFC 9260 9.2).
        case shutdownPending
        case shutdownSent
        case shutdownReceived
        case shutdownAckSent
        case ended
    }

    /// A packet that is written on its own, with a tag of its own.
    struct LonePacket {
        var tag: UInt32
        var type: UInt8
        var flags: UInt8 = 0
        var value: [UInt8] = []
    }

    /// When the peer is to hear what came.
    enum Acknowledgement: Equatable {
        case none
        case at(Instant)
        case now
    }

    var phase = Phase.idle
    var statistics = SCTPStatistics()

    // What the parts in the other files share.
    let ports: (local: UInt16, remote: UInt16)
    let largestPacket: Int
    private(set) var roundTrip: Duration?
    var entropy: Entropy
    let cookieKey: SipHash
    var localTag: UInt32
    var localTSN: UInt32
    var peerTag: UInt32 = 0
    var outboundStreams = Self.streamCount
    var inboundStreams = Self.streamCount
    var peerResetsStreams = false
    /// What INIT ACK gave us to echo.
    var peerCookie: [UInt8] = []
    /// T1: INIT or COOKIE ECHO is sent again.
    var handshakeAt: Instant?
    var handshakeAttempts = 0
    /// T2: SHUTDOWN or SHUTDOWN ACK is sent again.
    var shutdownAt: Instant?
    var shutdownAttempts = 0
    var sender: DataSender
    var received: ReceivedTSNs
    var reassembly: Reassembly
    var resets: StreamResets
    var acknowledgement = Acknowledgement.none
    /// Packets with DATA since the last SACK.
    var unacknowledgedPackets = 0
    var heartbeat: (at: Instant, nonce: UInt64)?

    // What is to be written next.
    var lone: [LonePacket] = []
    var mustEchoCookie = false
    var mustAckCookie = false
    var mustSendHeartbeat = false
    var mustSendShutdown = false
    var mustAckShutdown = false
    var heartbeatReply: [UInt8]?
    var errorCauses: [UInt8] = []
    private var events = FIFO<SCTPEvent>()

    /// Streams each way, as libwebrtc and usrsctp take; what one costs is held only where it is used.
    static let streamCount: UInt16 = 1_024
    /// What is held of the peer's until it can be given up: four of the largest messages.
    static let receiveCapacity = 1_048_576
    static let loneLimit = 4
    static let errorCauseLimit = 512
    /// RFC 9260 16: HB.interval.
    static let heartbeatInterval = Duration.seconds(30)
    /// RFC 9260 6.2 allows 200 ms; half of it stays below every peer's retransmission time-out.
    static let acknowledgementDelay = Duration.milliseconds(100)

    /// - Parameters:
    ///   - largestPacket: what the transport carries in one piece.
    ///   - largestMessage: of the peer's; a longer one ends the association.
    ///   - roundTrip: of the path, where it is known.
    init(
        localPort: UInt16, remotePort: UInt16, largestPacket: Int, largestMessage: Int, roundTrip: Duration?,
        entropy: Entropy
    ) {
        var entropy = entropy
        ports = (localPort, remotePort)
        self.largestPacket = largestPacket & ~3
        self.roundTrip = roundTrip
        cookieKey = SipHash(from: &entropy)
        localTag = Self.newTag(&entropy)
        localTSN = UInt32(truncatingIfNeeded: entropy.next())
        self.entropy = entropy
        sender = DataSender(
            firstTSN: localTSN, largestChunk: Self.largestChunk(in: self.largestPacket), roundTrip: roundTrip)
        received = ReceivedTSNs(before: 0)
        reassembly = Reassembly(capacity: Self.receiveCapacity, largestMessage: largestMessage)
        self.largestMessage = largestMessage
        resets = StreamResets(localTSN: localTSN, peerTSN: 0)
        lone.reserveCapacity(Self.loneLimit)
    }

    let largestMessage: Int

    /// RFC 9260 3.3.2: never 0.
    static func newTag(_ entropy: inout Entropy) -> UInt32 {
        max(1, UInt32(truncatingIfNeeded: entropy.next()))
    }

    static func largestChunk(in packet: Int) -> Int {
        packet - SCTPHeader.byteCount - SCTPDataChunk.headerByteCount
    }

    /// Before it begins: what is known of the path by now.
    mutating func pathMeasured(_ roundTrip: Duration) {
        guard phase == .idle else { return }
        self.roundTrip = roundTrip
        sender.pathMeasured(roundTrip)
    }

    /// When `handleTimeout` is to be called; nil where there is nothing to wait for.
    var deadline: Instant? {
        guard phase != .ended else { return nil }
        var earliest: Instant?
        func consider(_ other: Instant?) {
            guard let other else { return }
            earliest = earliest.map { min($0, other) } ?? other
        }
        consider(handshakeAt)
        consider(shutdownAt)
        if phase != .cookieEchoed { consider(sender.retransmitAt) }
        consider(resets.retryAt)
        consider(heartbeat?.at)
        if case .at(let at) = acknowledgement { consider(at) }
        return earliest
    }

    /// The deadline has come; early or late calls do no harm.
    mutating func handleTimeout(at now: Instant) {
        switch phase {
        case .idle, .ended: return
        case .cookieWait, .cookieEchoed: repeatHandshake(at: now)
        case .established, .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent: break
        }
        if case .at(let at) = acknowledgement, at <= now { acknowledgement = .now }
        // Until the cookie is acknowledged, DATA goes with its echo only, and is sent again with that.
        if phase != .cookieEchoed { sender.handleTimeout(at: now) }
        if let streams = resets.handleTimeout(at: now) { report(.outgoingReset(streams)) }
        repeatShutdown(at: now)
        if let due = heartbeat?.at, due <= now { beat(at: now) }
    }

    /// A message is to be sent, as soon as it can be.
    /// - Throws: `notOpen` once the association ends; `noSuchStream`; `queueFull`, after which it may be tried again later.
    mutating func send(_ message: SCTPMessage) throws(SCTPSendError) {
        switch phase {
        case .idle, .cookieWait, .cookieEchoed, .established: break
        case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent, .ended: throw .notOpen
        }
        guard message.stream < outboundStreams else { throw .noSuchStream }
        guard !message.bytes.isEmpty else { throw .empty }
        guard sender.append(message) else { throw .queueFull }
    }

    /// Our part of `stream` begins anew once all of it has arrived; `outgoingReset` says when.
    mutating func reset(_ stream: UInt16) {
        switch phase {
        case .ended: return
        case .established where !peerResetsStreams: report(.outgoingReset([stream]))
        case .idle, .cookieWait, .cookieEchoed, .established, .shutdownPending, .shutdownSent, .shutdownReceived,
            .shutdownAckSent:
            resets.want(stream)
        }
    }

    /// The next event in the order they happened; call until nil.
    mutating func nextEvent() -> SCTPEvent? { events.removeFirst() }

    mutating func report(_ event: SCTPEvent) {
        events.append(event)
    }

    /// Looks whether the peer is still there, and measures the path (RFC 9260 8.3).
    mutating func beat(at now: Instant) {
        guard phase == .established else {
            heartbeat = nil
            return
        }
        mustSendHeartbeat = true
        heartbeat = (now + Self.heartbeatInterval, entropy.next())
    }

    /// Something went out: the pause before the next HEARTBEAT begins anew.
    mutating func restartHeartbeat(at now: Instant) {
        if let nonce = heartbeat?.nonce { heartbeat = (now + Self.heartbeatInterval, nonce) }
    }
}

/// What the association tells, in the order it happened.
enum SCTPEvent: Equatable, Sendable {
    case established
    /// The peer began anew (RFC 9260 5.2.4.1): all streams are as at the beginning, and what was on its way is lost.
    case restarted
    case message(SCTPMessage)
    /// The peer's part of these streams begins anew; none stands for all.
    case incomingReset([UInt16])
    /// Our part of these streams has begun anew, or never will: the peer does not do such things.
    case outgoingReset([UInt16])
    /// The association is over: nothing comes and goes any more.
    case ended(SCTPEnd)
}

/// Why an association is over.
enum SCTPEnd: Error, Equatable, Sendable {
    case noAnswer
    /// It sent ABORT, with this cause where it named one.
    case abortedByPeer(cause: UInt16?)
    case shutDown
    case aborted
    /// The peer broke the protocol, or our bounds.
    case peerAtFault
}

/// Why a message is not sent.
enum SCTPSendError: Error, Equatable, Sendable {
    case notOpen
    case noSuchStream
    /// SCTP has no empty messages (RFC 9260 3.3.1).
    case empty
    case tooLong(limit: Int)
    /// As much as we hold waits already.
    case queueFull
}

/// What the association dropped, by reason. Only ever grows.
struct SCTPStatistics: Equatable, Sendable {
    var malformed = 0
    var wrongChecksum = 0
    var wrongPort = 0
    var wrongTag = 0
    var forgedCookies = 0
    var staleCookies = 0
    var unknownChunks = 0
    var duplicates = 0
    /// DATA that there was no room for, or too far ahead.
    var noRoom = 0
    /// DATA on streams that were not agreed on, and chunks that do not belong into the phase.
    var unexpected = 0
}
