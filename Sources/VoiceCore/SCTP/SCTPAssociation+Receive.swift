/// Packets that come in: what they must be (RFC 9260 8.5), and which chunk goes where.
extension SCTPAssociation {
    /// Takes one packet. Whatever it holds, it never traps, and at most one packet for each of its chunks is sent for it.
    mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        guard phase != .ended else { return }
        var reader: SCTPPacketReader
        do throws(SCTPFault) {
            reader = try SCTPPacketReader(bytes)
        } catch {
            if error == .wrongChecksum { statistics.wrongChecksum &+= 1 } else { statistics.malformed &+= 1 }
            return
        }
        guard reader.header.destinationPort == ports.local, reader.header.sourcePort == ports.remote else {
            statistics.wrongPort &+= 1
            return
        }
        let tag = reader.header.verificationTag
        var isFirst = true
        var hasData = false
        do throws(SCTPFault) {
            while phase != .ended, let chunk = try reader.next() {
                if isFirst, !isMeant(tag, for: chunk) {
                    // A chunk with a tag rule of its own has done all that its packet can do.
                    guard receiveOnItsOwn(chunk, tag: tag, at: now) else { return }
                    isFirst = false
                    continue
                }
                isFirst = false
                if chunk.type == SCTPChunkType.data { hasData = true }
                guard take(chunk, at: now) else { break }
            }
        } catch {
            statistics.malformed &+= 1
        }
        if hasData { noteDataPacket(at: now) }
    }

    /// RFC 9260 8.5: our tag on all but the chunks of 8.5.1.
    private func isMeant(_ tag: UInt32, for chunk: SCTPChunk) -> Bool {
        switch chunk.type {
        case SCTPChunkType.initiation, SCTPChunkType.cookieEcho: false
        case SCTPChunkType.abort, SCTPChunkType.shutdownComplete:
            chunk.flags & 1 == 0 ? tag == localTag : tag == peerTag && peerTag != 0
        default: tag == localTag
        }
    }

    /// - Returns: whether the packet's other chunks are to be read, now with the usual tag.
    private mutating func receiveOnItsOwn(_ chunk: SCTPChunk, tag: UInt32, at now: Instant) -> Bool {
        switch chunk.type {
        case SCTPChunkType.initiation where tag == 0:
            receiveInit(chunk, at: now)
            return false
        case SCTPChunkType.cookieEcho:
            receiveCookieEcho(chunk, tag: tag, at: now)
            return tag == localTag && (phase == .established || phase == .shutdownPending)
        default:
            statistics.wrongTag &+= 1
            return false
        }
    }

    /// - Returns: whether what stands behind it is to be read.
    private mutating func take(_ chunk: SCTPChunk, at now: Instant) -> Bool {
        switch chunk.type {
        case SCTPChunkType.data: receiveData(chunk, at: now)
        case SCTPChunkType.sack: receiveSack(chunk, at: now)
        case SCTPChunkType.initiationAck:
            receiveInitAck(chunk, at: now)
            return false
        case SCTPChunkType.cookieAck: receiveCookieAck(at: now)
        case SCTPChunkType.heartbeat: if peerTag != 0 { answerHeartbeat(chunk) }
        case SCTPChunkType.heartbeatAck: receiveHeartbeatAck(chunk, at: now)
        case SCTPChunkType.abort: end(.abortedByPeer(cause: Self.cause(of: chunk)))
        case SCTPChunkType.error: if Self.cause(of: chunk) == 3 { receiveStaleCookie(at: now) }
        case SCTPChunkType.forwardTSN: receiveForwardTSN(chunk, at: now)
        case SCTPChunkType.reconfiguration: receiveReconfiguration(chunk)
        case SCTPChunkType.shutdown: receiveShutdown(chunk, at: now)
        case SCTPChunkType.shutdownAck: receiveShutdownAck()
        case SCTPChunkType.shutdownComplete: receiveShutdownComplete()
        case SCTPChunkType.initiation, SCTPChunkType.cookieEcho:
            statistics.unexpected &+= 1  // they may only be the first
        default:
            statistics.unknownChunks &+= 1
            let handling = UnknownHandling(chunkType: chunk.type)
            if handling.isReported { reportUnknown(chunk) }
            return handling.goesOn
        }
        return true
    }

    private static func cause(of chunk: SCTPChunk) -> UInt16? {
        var causes = SCTPParameters(chunk.value)
        return causes.next()?.type
    }

    /// The whole chunk goes back as the cause, as far as there is room (RFC 9260 3.3.10.6).
    private mutating func reportUnknown(_ chunk: SCTPChunk) {
        let length = UInt16(truncatingIfNeeded: chunk.value.count + SCTPChunk.headerByteCount)
        var cause: [UInt8] = [chunk.type, chunk.flags, UInt8(length >> 8), UInt8(length & 0xFF)]
        cause += chunk.value.prefix(64)
        report(.unrecognizedChunk, cause)
    }

    /// A cause for the ERROR chunk of the next packet. What is too much is not said.
    mutating func report(_ cause: SCTPCause, _ value: [UInt8]) {
        let length = value.count + 4
        guard errorCauses.count + length + 3 <= Self.errorCauseLimit else { return }
        errorCauses += [
            UInt8(cause.rawValue >> 8), UInt8(cause.rawValue & 0xFF), UInt8(length >> 8), UInt8(length & 0xFF),
        ]
        errorCauses += value
        errorCauses += [UInt8](repeating: 0, count: -length & 3)
    }

    private mutating func answerHeartbeat(_ chunk: SCTPChunk) {
        guard heartbeatReply == nil, chunk.value.count + SCTPHeader.byteCount + 4 <= largestPacket else { return }
        heartbeatReply = Array(chunk.value)
    }

    private mutating func receiveHeartbeatAck(_ chunk: SCTPChunk, at now: Instant) {
        var parameters = SCTPParameters(chunk.value)
        guard let (_, _, value) = parameters.next() else { return }
        var reader = ByteReader(value)
        guard let sentAt = try? reader.uint64(), let nonce = try? reader.uint64(), nonce == heartbeat?.nonce else {
            return
        }
        sender.measured(now - Instant(nanoseconds: Int64(bitPattern: sentAt)))
    }

    private mutating func receiveReconfiguration(_ chunk: SCTPChunk) {
        guard phase == .established || phase == .shutdownPending else { return }
        for (type, _, value) in SCTPParameters(chunk.value).prefix(2) {  // RFC 6525 3.1: at most two
            switch type {
            case SCTPParameterType.outgoingReset:
                guard let streams = resets.receiveOutgoing(value, cumulativeTSN: received.cumulative) else { break }
                reassembly.reset(streams)
                report(.incomingReset(streams))
            case SCTPParameterType.reconfigurationResponse:
                guard let done = resets.receiveResponse(value) else { break }
                if done.isPerformed { sender.reset(done.streams) }
                report(.outgoingReset(done.streams))
            case SCTPParameterType.incomingReset, SCTPParameterType.associationReset,
                SCTPParameterType.addOutgoingStreams, SCTPParameterType.addIncomingStreams:
                resets.deny(value)
            default: break
            }
        }
    }
}
