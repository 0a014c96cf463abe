/// What carries messages: DATA, SACK and FORWARD TSN (RFC 9260 6, RFC 3758).
extension SCTPAssociation {
    /// Whether DATA is taken now. It may outrun the COOKIE ACK in front of it.
    private var takesData: Bool {
        switch phase {
        case .cookieEchoed, .established, .shutdownPending, .shutdownSent: true
        case .idle, .cookieWait, .shutdownReceived, .shutdownAckSent, .ended: false
        }
    }

    mutating func receiveData(_ chunk: SCTPChunk, at now: Instant) {
        guard takesData else {
            statistics.unexpected &+= 1
            return
        }
        let data: SCTPDataChunk
        do throws(SCTPFault) {
            data = try SCTPDataChunk(chunk)
        } catch {
            statistics.malformed &+= 1
            // RFC 9260 6.2: DATA without data ends the association.
            if error == .malformedChunk { giveUp(.noUserData, ending: .peerAtFault) }
            return
        }
        switch received.judge(data.tsn) {
        case .duplicate:
            statistics.duplicates &+= 1
            received.addDuplicate(data.tsn)
            acknowledgement = .now
        case .tooFar:
            statistics.noRoom &+= 1
            acknowledgement = .now
        case .new:
            takeNew(data)
        }
        if data.wantsSack { acknowledgement = .now }
    }

    private mutating func takeNew(_ data: SCTPDataChunk) {
        guard data.stream < inboundStreams else {
            // RFC 9260 6.5: acknowledged, and not given up.
            statistics.unexpected &+= 1
            received.add(data.tsn)
            return
        }
        let isNext = data.tsn == received.cumulative &+ 1
        switch reassembly.add(data, isNext: isNext) {
        case .taken:
            let hadGaps = received.hasGaps
            received.add(data.tsn)
            // A gap, and its end, are told at once (RFC 9260 6.7).
            if hadGaps || received.hasGaps { acknowledgement = .now }
            reportMessages()
        case .noRoom:
            statistics.noRoom &+= 1
            acknowledgement = .now
        case .violation:
            giveUp(.protocolViolation, ending: .peerAtFault)
        }
    }

    private mutating func reportMessages() {
        while let message = reassembly.nextMessage() { report(.message(message)) }
    }

    /// Every second packet with DATA is acknowledged at once, one alone after a while (RFC 9260 6.2).
    mutating func noteDataPacket(at now: Instant) {
        guard takesData else { return }
        unacknowledgedPackets += 1
        switch acknowledgement {
        case .now: break
        case .none, .at:
            if unacknowledgedPackets >= 2 || phase == .shutdownSent {
                acknowledgement = .now
            } else if acknowledgement == .none {
                acknowledgement = .at(now + Self.acknowledgementDelay)
            }
        }
        if phase == .shutdownSent { mustSendShutdown = true }  // RFC 9260 9.2
    }

    mutating func receiveSack(_ chunk: SCTPChunk, at now: Instant) {
        switch phase {
        case .established, .shutdownPending, .shutdownSent, .shutdownReceived: break
        case .idle, .cookieWait, .cookieEchoed, .shutdownAckSent, .ended: return
        }
        guard let sack = try? SCTPSackChunk(chunk) else {
            statistics.malformed &+= 1
            return
        }
        guard sender.receive(sack, at: now) else {
            giveUp(.protocolViolation, ending: .peerAtFault)
            return
        }
        continueShutdown(at: now)
    }

    /// The peer gives up some of its messages (RFC 3758 3.6).
    mutating func receiveForwardTSN(_ chunk: SCTPChunk, at now: Instant) {
        guard takesData else { return }
        guard var forward = try? SCTPForwardTSNChunk(chunk) else {
            statistics.malformed &+= 1
            return
        }
        acknowledgement = .now
        guard received.forward(to: forward.cumulativeTSN) else { return }
        reassembly.forget(upTo: forward.cumulativeTSN)
        while let (stream, sequence) = forward.nextStream() {
            guard stream < inboundStreams else { continue }
            reassembly.skip(stream: stream, upTo: sequence)
        }
        reportMessages()
    }
}
