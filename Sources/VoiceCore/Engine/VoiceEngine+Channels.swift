/// DTLS and what it carries beside keys: SCTP packets of the data channels.
extension VoiceEngine {
    var channelDeadline: Deadline? {
        channels?.deadline.map { Deadline(at: $0, reason: .dataChannel) }
    }

    var turnDeadline: Deadline? {
        dialogue?.turns.deadline.map { Deadline(at: $0, reason: .turnEnd) }
    }

    mutating func prepareChannels(_ application: ApplicationDescription, isDTLSClient: Bool) {
        channels = DataChannels(
            isDTLSClient: isDTLSClient,
            localPort: side == .offering ? ApplicationDescription.defaultPort : application.answeredPort,
            remotePort: application.sctpPort, largestPacket: DTLSTransport.largestSCTPPacket,
            messageLimit: application.maxMessageByteCount,
            largestMessage: ApplicationDescription.maxMessageByteCount, roundTrip: nil, entropy: channelEntropy)
        // The first channel: there is room for it.
        if let channel { try? channels?.add(label: channel) }
    }

    mutating func drainDTLS<Sink: EngineSink & ~Copyable>(at now: Instant, into sink: inout Sink) {
        sendDTLS(at: now, into: &sink)
        if case .connected = dtls?.phase { enterConnected(at: now, into: &sink) }
        drainChannels(at: now, into: &sink)
        guard let state = dtls?.phase else { return }
        switch state {
        case .handshaking, .connected: break
        case .closed: finish(telling: .closedByPeer, at: now, into: &sink)
        case .failed(let error): finish(telling: .failed("DTLS: \(error)"), at: now, into: &sink)
        }
    }

    private mutating func sendDTLS<Sink: EngineSink & ~Copyable>(at now: Instant, into sink: inout Sink) {
        guard let route = ice.selectedRoute ?? validRoute else { return }
        while let byteCount = dtls?.nextDatagram(into: outgoing) {
            transmit(byteCount, to: route, at: now, into: &sink)
        }
    }

    /// Nothing is taken out of DTLS before the certificate is known to be the other side's.
    private mutating func drainChannels<Sink: EngineSink & ~Copyable>(at now: Instant, into sink: inout Sink) {
        guard phase == .connected || phase == .disconnected else { return }
        while let byteCount = dtls?.nextApplicationData(into: message) {
            channels?.receive(UnsafeRawBufferPointer(rebasing: message[..<byteCount]), at: now)
        }
        while let byteCount = channels?.nextPacket(into: message, at: now) {
            sendPacket(byteCount)
            sendDTLS(at: now, into: &sink)
        }
        var closed: [String] = []
        var wasLost = false
        while let event = channels?.nextEvent() {
            switch event {
            case .opened(let label):
                sink.report(.channelOpened(label: label))
                obey(dialogue?.opened(label), at: now, into: &sink)
            case .closed(let label):
                sink.report(.channelClosed(label: label))
                closed.append(label)
            case .message(_, true, let bytes) where dialogue != nil: obey(dialogue?.heard(bytes), at: now, into: &sink)
            case .message(let label, let isText, let bytes):
                sink.report(.message(label: label, isText: isText, bytes: bytes))
            case .ended(let reason): wasLost = reason == .noAnswer
            }
        }
        for label in closed { obey(dialogue?.closed(label, wasLost: wasLost), at: now, into: &sink) }
    }

    /// What the dialogue wants.
    private mutating func obey<Sink: EngineSink & ~Copyable>(
        _ outcome: ProviderDialogue.Outcome?, at now: Instant, into sink: inout Sink
    ) {
        guard let outcome else { return }
        if let news = outcome.news { sink.report(.provider(news)) }
        say(outcome.messages, into: &sink)
        if outcome.isOver { finish(telling: .closedByPeer, at: now, into: &sink) }
    }

    /// Sends events of ours.
    mutating func say<Sink: EngineSink & ~Copyable>(_ messages: [JSONValue], into sink: inout Sink) {
        guard let label = dialogue?.channel else { return }
        for message in messages { sendMessage(message.encoded, isText: true, label: label, into: &sink) }
    }

    mutating func sendMessage<Sink: EngineSink & ~Copyable>(
        _ bytes: [UInt8], isText: Bool, label: String, into sink: inout Sink
    ) {
        do throws(SCTPSendError) {
            guard channels != nil else { throw .notOpen }
            try channels?.send(bytes, isText: isText, label: label)
        } catch {
            sink.report(.messageRefused(label: label, error))
        }
    }

    /// The other side is told in the same breath as by DTLS, since it may hear only one of the two.
    mutating func abortChannels(at now: Instant) {
        channels?.abort()
        while let byteCount = channels?.nextPacket(into: message, at: now) { sendPacket(byteCount) }
    }

    /// What DTLS cannot send is lost on the way, and sent again as such.
    private mutating func sendPacket(_ byteCount: Int) {
        try? dtls?.send(applicationData: UnsafeRawBufferPointer(rebasing: message[..<byteCount]))
    }
}
