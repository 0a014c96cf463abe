/// The four-way handshake (RFC 9260 5.1), which both sides of a data channel begin at once, and its collisions (5.2).
extension SCTPAssociation {
    /// RFC 9260 16: Max.Init.Retransmits.
    private static let attemptLimit = 8

    /// The transport is there: INIT goes out. Later calls do nothing.
    mutating func start(at now: Instant) {
        guard phase == .idle else { return }
        phase = .cookieWait
        sendInit(at: now)
    }

    private mutating func sendInit(at now: Instant) {
        var value = [UInt8](repeating: 0, count: 64)
        let count = value.withUnsafeMutableBytes { buffer -> Int in
            var writer = ByteWriter(buffer)
            ownInit(tag: localTag, firstTSN: localTSN).write(to: &writer)
            return writer.count
        }
        value.removeLast(value.count - count)
        post(LonePacket(tag: 0, type: SCTPChunkType.initiation, value: value))
        handshakeAt = now + sender.timeout.value
    }

    private func ownInit(tag: UInt32, firstTSN: UInt32) -> SCTPInitChunk {
        SCTPInitChunk(
            tag: tag, window: UInt32(Self.receiveCapacity), outboundStreams: Self.streamCount,
            inboundStreams: Self.streamCount, firstTSN: firstTSN)
    }

    /// T1 has run out.
    mutating func repeatHandshake(at now: Instant) {
        guard let due = handshakeAt, due <= now else { return }
        handshakeAttempts += 1
        guard handshakeAttempts <= Self.attemptLimit else {
            end(.noAnswer)
            return
        }
        sender.backOff()
        if phase == .cookieWait {
            sendInit(at: now)
        } else {
            mustEchoCookie = true
            sender.loseAll()
            handshakeAt = now + sender.timeout.value
        }
    }

    /// INIT: answered by an INIT ACK, of which nothing is remembered here (RFC 9260 5.1, B; 5.2.1 and 5.2.2).
    mutating func receiveInit(_ chunk: SCTPChunk, at now: Instant) {
        guard let peer = try? SCTPInitChunk(chunk) else {
            statistics.malformed &+= 1
            return
        }
        if let refusal = peer.refusal {
            if peer.tag != 0 { postAbort(refusal, tag: peer.tag) }
            return
        }
        switch phase {
        case .ended: return
        case .idle, .cookieWait:
            answerInit(of: peer, tag: localTag, firstTSN: localTSN, ties: (0, 0), at: now)
        case .cookieEchoed:
            answerInit(of: peer, tag: localTag, firstTSN: localTSN, ties: (localTag, peerTag), at: now)
        case .established, .shutdownPending, .shutdownSent, .shutdownReceived:
            answerInit(
                of: peer, tag: Self.newTag(&entropy), firstTSN: UInt32(truncatingIfNeeded: entropy.next()),
                ties: (localTag, peerTag), at: now)
        case .shutdownAckSent:
            mustAckShutdown = true
        }
    }

    private mutating func answerInit(
        of peer: SCTPInitChunk, tag: UInt32, firstTSN: UInt32, ties: (local: UInt32, peer: UInt32), at now: Instant
    ) {
        var cookie = StateCookie(
            createdAt: now, localTag: tag, localTSN: firstTSN, outboundStreams: Self.streamCount,
            inboundStreams: Self.streamCount, peer: peer)
        cookie.localTieTag = ties.local
        cookie.peerTieTag = ties.peer
        let own = ownInit(tag: tag, firstTSN: firstTSN)
        let unrecognized = peer.unrecognized
        var value = [UInt8](repeating: 0, count: 512)
        let count = value.withUnsafeMutableBytes { buffer -> Int in
            var writer = ByteWriter(buffer)
            own.write(to: &writer)
            writer.parameter(SCTPParameterType.stateCookie) { [cookieKey] in cookie.write(to: &$0, key: cookieKey) }
            if !unrecognized.isEmpty { Self.report(unrecognized, to: &writer) }
            return writer.count
        }
        value.removeLast(value.count - count)
        // One answer to many INITs is enough.
        lone.removeAll { $0.type == SCTPChunkType.initiationAck }
        post(LonePacket(tag: peer.tag, type: SCTPChunkType.initiationAck, value: value))
    }

    /// Each parameter that was not known in one of its own (RFC 9260 3.3.3.1).
    private static func report(_ unrecognized: [UInt8], to writer: inout ByteWriter) {
        unrecognized.withUnsafeBytes { bytes in
            for (_, whole, _) in SCTPParameters(bytes) {
                writer.parameter(SCTPParameterType.unrecognized) { $0.bytes(whole) }
            }
        }
    }

    /// INIT ACK: its cookie is echoed, with the first DATA (RFC 9260 5.1, C).
    mutating func receiveInitAck(_ chunk: SCTPChunk, at now: Instant) {
        guard phase == .cookieWait else {
            statistics.unexpected &+= 1  // RFC 9260 5.2.3
            return
        }
        guard let peer = try? SCTPInitChunk(chunk) else {
            statistics.malformed &+= 1
            return
        }
        guard peer.refusal == nil, let cookie = peer.cookie, !cookie.isEmpty else {
            postAbort(peer.refusal ?? .missingParameter, tag: peer.tag)
            end(.peerAtFault)
            return
        }
        // It is echoed in one packet.
        guard cookie.count <= largestPacket - SCTPHeader.byteCount - SCTPChunk.headerByteCount else {
            postAbort(.outOfResource, tag: peer.tag)
            end(.peerAtFault)
            return
        }
        adopt(
            StateCookie(
                createdAt: now, localTag: localTag, localTSN: localTSN, outboundStreams: Self.streamCount,
                inboundStreams: Self.streamCount, peer: peer))
        if !peer.unrecognized.isEmpty { report(.unrecognizedParameters, peer.unrecognized) }
        peerCookie = Array(cookie)
        phase = .cookieEchoed
        mustEchoCookie = true
        handshakeAttempts = 0
        handshakeAt = now + sender.timeout.value
    }

    /// COOKIE ECHO: the peer has heard us, and its cookie says what was agreed on (RFC 9260 5.1, D; 5.2.4).
    mutating func receiveCookieEcho(_ chunk: SCTPChunk, tag: UInt32, at now: Instant) {
        let cookie: StateCookie
        do throws(StateCookie.Problem) {
            cookie = try StateCookie(chunk.value, key: cookieKey, at: now)
        } catch {
            switch error {
            case .forged: statistics.forgedCookies &+= 1
            case .stale(let age, let peerTag):
                statistics.staleCookies &+= 1
                postStaleCookie(age, tag: peerTag)
            }
            return
        }
        guard tag == cookie.localTag else {
            statistics.wrongTag &+= 1
            return
        }
        let isLocal = cookie.localTag == localTag
        let isPeer = cookie.peerTag == peerTag
        switch phase {
        case .ended: return
        case .idle, .cookieWait:
            guard isLocal else { return }
            adopt(cookie)
            enterEstablished(at: now)
        case .cookieEchoed:
            guard isLocal else { return }
            // Both INITs met on their way. Where the tags are the same, so is all else (5.2.4, D), else the peer's INIT ACK was
            // one of another attempt (5.2.4, B).
            if !isPeer { adopt(cookie) }
            enterEstablished(at: now)
        case .established, .shutdownPending, .shutdownSent, .shutdownReceived:
            if isLocal {
                peerTag = cookie.peerTag
            } else if !isPeer, cookie.localTieTag == localTag, cookie.peerTieTag == peerTag {
                restart(cookie, at: now)
            } else {
                statistics.unexpected &+= 1  // 5.2.4, C and all others
                return
            }
        case .shutdownAckSent:
            mustAckShutdown = true
            return
        }
        mustAckCookie = true
    }

    /// COOKIE ACK (RFC 9260 5.1, E).
    mutating func receiveCookieAck(at now: Instant) {
        guard phase == .cookieEchoed else { return }
        enterEstablished(at: now)
    }

    /// The peer says that its own cookie was too old: once more from the beginning (RFC 9260 5.2.6).
    mutating func receiveStaleCookie(at now: Instant) {
        guard phase == .cookieEchoed else { return }
        handshakeAttempts += 1
        guard handshakeAttempts <= Self.attemptLimit else {
            end(.noAnswer)
            return
        }
        phase = .cookieWait
        mustEchoCookie = false
        sender.loseAll()
        sendInit(at: now)
    }

    /// Takes over what both sides agreed on.
    private mutating func adopt(_ cookie: StateCookie) {
        peerTag = cookie.peerTag
        outboundStreams = cookie.outboundStreams
        inboundStreams = cookie.inboundStreams
        peerResetsStreams = cookie.knowsReconfiguration
        received = ReceivedTSNs(before: cookie.peerTSN)
        resets.begin(peerTSN: cookie.peerTSN)
        sender.peerAnnounced(window: cookie.peerWindow)
    }

    private mutating func enterEstablished(at now: Instant) {
        phase = .established
        handshakeAt = nil
        mustEchoCookie = false
        peerCookie = []
        lone.removeAll { $0.type == SCTPChunkType.initiation }
        heartbeat = (now + Self.heartbeatInterval, entropy.next())
        report(.established)
    }

    /// The peer has lost all it knew (RFC 9260 5.2.4.1).
    private mutating func restart(_ cookie: StateCookie, at now: Instant) {
        localTag = cookie.localTag
        localTSN = cookie.localTSN
        sender = DataSender(
            firstTSN: localTSN, largestChunk: Self.largestChunk(in: largestPacket), roundTrip: roundTrip)
        reassembly = Reassembly(capacity: Self.receiveCapacity, largestMessage: largestMessage)
        resets = StreamResets(localTSN: localTSN, peerTSN: cookie.peerTSN)
        adopt(cookie)
        acknowledgement = .none
        unacknowledgedPackets = 0
        shutdownAt = nil
        phase = .established
        report(.restarted)
    }

    private mutating func postStaleCookie(_ age: Duration, tag: UInt32) {
        let microseconds = UInt32(min(max(0, age.wholeNanoseconds / 1_000), Int64(UInt32.max)))
        // One cause: its number, its length, how old (RFC 9260 3.3.10.3).
        let value: [UInt8] = [
            0, 3, 0, 8, UInt8(microseconds >> 24), UInt8(microseconds >> 16 & 0xFF), UInt8(microseconds >> 8 & 0xFF),
            UInt8(microseconds & 0xFF),
        ]
        post(LonePacket(tag: tag, type: SCTPChunkType.error, value: value))
    }
}
