/// Packets that go out: those that stand alone, and bundles of control chunks and DATA (RFC 9260 6.10).
extension SCTPAssociation {
    /// Writes the next packet into `buffer`, which should have `largestPacket` bytes; call until nil.
    mutating func nextPacket(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Int? {
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(buffer.count, largestPacket)])
        if !lone.isEmpty { return write(lone.removeFirst(), into: room) }
        switch phase {
        case .idle, .cookieWait, .ended: return nil
        case .cookieEchoed: if !mustEchoCookie { return nil }
        case .established, .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent: break
        }
        if resets.isWaiting { resets.prepare { sender.isBusy($0) } }
        guard hasSomethingToSay else { return nil }
        var writer = SCTPPacketWriter(room, header: header(tag: peerTag))
        writeControl(&writer, at: now)
        if phase != .shutdownSent, phase != .shutdownAckSent { sender.fill(&writer, at: now) }
        guard !writer.isEmpty else { return nil }
        restartHeartbeat(at: now)
        return writer.finish()
    }

    private var hasSomethingToSay: Bool {
        mustEchoCookie || mustAckCookie || mustSendHeartbeat || mustSendShutdown || mustAckShutdown
            || heartbeatReply != nil || !errorCauses.isEmpty || acknowledgement == .now || resets.isDue
            || sender.wantsToSend
    }

    private func header(tag: UInt32) -> SCTPHeader {
        SCTPHeader(sourcePort: ports.local, destinationPort: ports.remote, verificationTag: tag)
    }

    private func write(_ packet: LonePacket, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        var writer = SCTPPacketWriter(buffer, header: header(tag: packet.tag))
        writer.chunk(packet.type, flags: packet.flags) { $0.bytes(packet.value) }
        return writer.finish()
    }

    /// In the order that the receiver must find them: the cookie's first, SACK before DATA.
    private mutating func writeControl(_ writer: inout SCTPPacketWriter, at now: Instant) {
        if mustAckCookie {
            mustAckCookie = false
            writer.chunk(SCTPChunkType.cookieAck)
        }
        if mustEchoCookie {
            mustEchoCookie = false
            writer.chunk(SCTPChunkType.cookieEcho) { $0.bytes(peerCookie) }
        }
        if !errorCauses.isEmpty, errorCauses.count <= writer.remaining {
            writer.chunk(SCTPChunkType.error) { $0.bytes(errorCauses) }
            errorCauses = []
        }
        // With a packet that goes anyway an acknowledgement costs little, and saves one.
        if acknowledgement == .now || acknowledgement != .none && sender.wantsToSend, writer.remaining >= 12 {
            writeSack(&writer)
        }
        if let reply = heartbeatReply, reply.count <= writer.remaining {
            writer.chunk(SCTPChunkType.heartbeatAck) { $0.bytes(reply) }
            heartbeatReply = nil
        }
        if mustSendHeartbeat, let nonce = heartbeat?.nonce {
            mustSendHeartbeat = false
            writer.chunk(SCTPChunkType.heartbeat) {
                $0.parameter(SCTPParameterType.heartbeatInfo) {
                    $0.uint64(UInt64(bitPattern: now.nanoseconds))
                    $0.uint64(nonce)
                }
            }
        }
        // Two parameters at most, of which the larger names 128 streams.
        if resets.isDue, writer.remaining >= 320 {
            let (lastTSN, timeout) = (sender.lastTSN, sender.timeout.value)
            writer.chunk(SCTPChunkType.reconfiguration) {
                resets.write(to: &$0, lastTSN: lastTSN, at: now, timeout: timeout)
            }
        }
        writeShutdown(&writer, at: now)
    }

    private mutating func writeSack(_ writer: inout SCTPPacketWriter) {
        acknowledgement = .none
        unacknowledgedPackets = 0
        let (window, room) = (UInt32(reassembly.room), writer.remaining)
        writer.chunk(SCTPChunkType.sack) { received.writeSack(to: &$0, window: window, room: room) }
    }

    private mutating func writeShutdown(_ writer: inout SCTPPacketWriter, at now: Instant) {
        if mustSendShutdown {
            mustSendShutdown = false
            shutdownAt = now + sender.timeout.value
            let cumulative = received.cumulative
            writer.chunk(SCTPChunkType.shutdown) { $0.uint32(cumulative) }
        }
        if mustAckShutdown {
            mustAckShutdown = false
            shutdownAt = now + sender.timeout.value
            writer.chunk(SCTPChunkType.shutdownAck)
        }
    }

    /// A packet that must not be bundled. What does not fit the queue is not sent; the peer asks again.
    mutating func post(_ packet: LonePacket) {
        if lone.count < Self.loneLimit { lone.append(packet) }
    }
}
