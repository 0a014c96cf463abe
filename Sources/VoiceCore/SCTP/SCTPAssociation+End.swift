/// The end of an association: SHUTDOWN, by which nothing is lost (RFC 9260 9.2), and ABORT (9.1).
extension SCTPAssociation {
    /// All that waits is sent, then the peer is told; `ended` comes when it has agreed.
    mutating func shutdown(at now: Instant) {
        switch phase {
        case .idle, .cookieWait, .cookieEchoed: giveUp(.userInitiated, ending: .shutDown)
        case .established:
            phase = .shutdownPending
            continueShutdown(at: now)
        case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent, .ended: break
        }
    }

    /// It is over at once; the peer is told in the next packet.
    mutating func abort() {
        giveUp(.userInitiated, ending: .aborted)
    }

    mutating func giveUp(_ cause: SCTPCause, ending reason: SCTPEnd) {
        guard phase != .ended else { return }
        lone.removeAll()
        if peerTag != 0 { postAbort(cause, tag: peerTag) }
        end(reason)
    }

    mutating func postAbort(_ cause: SCTPCause, tag: UInt32) {
        let value: [UInt8] = [UInt8(cause.rawValue >> 8), UInt8(cause.rawValue & 0xFF), 0, 4]
        post(LonePacket(tag: tag, type: SCTPChunkType.abort, value: value))
    }

    /// Nothing more is taken; what it held is let go.
    mutating func end(_ reason: SCTPEnd) {
        guard phase != .ended else { return }
        phase = .ended
        handshakeAt = nil
        shutdownAt = nil
        heartbeat = nil
        acknowledgement = .none
        sender = DataSender(firstTSN: 0, largestChunk: 1, roundTrip: nil)
        reassembly = Reassembly(capacity: 0, largestMessage: 0)
        report(.ended(reason))
    }

    /// The next step, once all has arrived.
    mutating func continueShutdown(at now: Instant) {
        guard sender.isIdle else { return }
        switch phase {
        case .shutdownPending:
            phase = .shutdownSent
            mustSendShutdown = true
        case .shutdownReceived:
            phase = .shutdownAckSent
            mustAckShutdown = true
        case .idle, .cookieWait, .cookieEchoed, .established, .shutdownSent, .shutdownAckSent, .ended: break
        }
    }

    /// T2 has run out.
    mutating func repeatShutdown(at now: Instant) {
        guard let due = shutdownAt, due <= now else { return }
        shutdownAt = nil
        shutdownAttempts += 1
        // RFC 9260 16: Association.Max.Retrans.
        guard shutdownAttempts <= 10 else {
            giveUp(.userInitiated, ending: .shutDown)
            return
        }
        sender.backOff()
        switch phase {
        case .shutdownSent: mustSendShutdown = true
        case .shutdownAckSent: mustAckShutdown = true
        case .idle, .cookieWait, .cookieEchoed, .established, .shutdownPending, .shutdownReceived, .ended: break
        }
    }

    mutating func receiveShutdown(_ chunk: SCTPChunk, at now: Instant) {
        var reader = ByteReader(chunk.value)
        guard let cumulativeTSN = try? reader.uint32() else {
            statistics.malformed &+= 1
            return
        }
        switch phase {
        case .established, .shutdownPending, .shutdownReceived:
            guard sender.receive(cumulativeTSN: cumulativeTSN, at: now) else {
                giveUp(.protocolViolation, ending: .peerAtFault)
                return
            }
            phase = .shutdownReceived
            continueShutdown(at: now)
        case .shutdownSent:
            phase = .shutdownAckSent
            mustSendShutdown = false
            mustAckShutdown = true
        case .shutdownAckSent: mustAckShutdown = true
        case .idle, .cookieWait, .cookieEchoed, .ended: statistics.unexpected &+= 1
        }
    }

    mutating func receiveShutdownAck() {
        guard phase == .shutdownSent || phase == .shutdownAckSent else {
            statistics.unexpected &+= 1
            return
        }
        lone.removeAll()
        post(LonePacket(tag: peerTag, type: SCTPChunkType.shutdownComplete))
        end(.shutDown)
    }

    mutating func receiveShutdownComplete() {
        guard phase == .shutdownAckSent else {
            statistics.unexpected &+= 1
            return
        }
        end(.shutDown)
    }
}
