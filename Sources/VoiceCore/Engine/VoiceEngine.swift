/// One side of a WebRTC voice: ICE, DTLS, SRTP and RTP joined, as pure state.
///
/// One call in, everything it causes through the sink before it returns, and a `deadline` that says when and why it wants to
/// be called again. It is owned by one thread (or one test) and never reads a clock, opens a socket or makes randomness of
/// its own. The same engine offers and answers.
///
/// Left out: RTP without rtcp-mux or BUNDLE, SDES keys, DTLS 1.0, trickled candidates, renegotiation and ICE restarts,
/// because no provider asks for them; a changed network starts a new voice.
struct VoiceEngine: ~Copyable {
    /// How far the voice is.
    enum Phase: Equatable {
        /// The other side's description is not known yet.
        case gathering
        case connecting
        case connected
        case disconnected
        /// The other side is being told, `remaining` more times, next at `next`.
        case closing(remaining: Int, next: Instant)
        case ended
    }

    private(set) var phase = Phase.gathering
    var statistics = EngineStatistics()
    let side: VoiceSide
    private let identity: DTLSIdentity
    private var description: LocalDescription
    private var remoteFingerprints: [Fingerprint] = []
    var ice: ICEAgent
    var reach: Reach
    var following = Following()
    var dtls: DTLSTransport?
    /// Where DTLS goes until ICE has selected: the latest route that it validated.
    var validRoute: Route?
    private var early = EarlyDatagrams()
    var media: MediaStream
    /// What the other side describes of them too; nil where it takes none.
    var channels: DataChannels?
    /// The name of the channel that we open; nil: none.
    let channel: String?
    let channelEntropy: Entropy
    /// With the provider on the event channel; nil where we are the provider.
    var dialogue: ProviderDialogue?
    /// What says the end, kept to be said again.
    private var farewell: [[UInt8]] = []
    /// For a datagram that came over a connection.
    let inbound = Scratch()
    let outgoing = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 16)
    /// For one SCTP packet: a whole record of DTLS (RFC 6347 4.1).
    let message = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)

    /// - Parameters:
    ///   - identity: the certificate whose fingerprint the description carries.
    ///   - channel: the name of the data channel that we open; nil: none, and an offer has none at all.
    ///   - turns: how turns are taken with the provider; nil where we are the provider, and messages are not read.
    ///   - unixOffset: what has to be added to the monotonic clock to get the time since 1970, for sender reports only.
    init(
        side: VoiceSide, identity: DTLSIdentity, channel: String? = nil, turns: TurnTaking? = nil, entropy: Entropy,
        unixOffset: Duration
    ) {
        var entropy = entropy
        self.side = side
        self.identity = identity
        self.channel = channel
        dialogue = turns.map(ProviderDialogue.init)
        let credentials = ICECredentials(from: &entropy)
        ice = ICEAgent(isControlling: side == .offering, local: credentials, entropy: entropy)
        reach = Reach(entropy: entropy)
        media = MediaStream(entropy: &entropy, unixOffset: unixOffset)
        description = LocalDescription(
            credentials: credentials, fingerprint: identity.fingerprint(.sha256), candidates: [], ssrc: media.ssrc,
            cname: media.cname, entropy: &entropy)
        description.offersChannels = channel != nil
        channelEntropy = entropy
    }

    deinit {
        outgoing.deallocate()
        message.deallocate()
    }

    /// Whether all is said and done; nothing comes out any more.
    var hasEnded: Bool { phase == .ended }

    // MARK: Descriptions

    /// The offer, with the candidates of all paths open now.
    mutating func offer() -> String {
        reach.endGathering()
        description.candidates = ice.localCandidates
        return description.offer()
    }

    /// Sets the provider's answer to `offer()`.
    /// - Throws: `SDPError` where it cannot be used; the engine stays as it was.
    mutating func accept<Sink: EngineSink & ~Copyable>(
        answer: String, at now: Instant, into sink: inout Sink
    ) throws(SDPError) {
        try begin(SessionDescription(parsing: answer).negotiated(as: .answer), at: now, into: &sink)
    }

    /// Takes an offer and gives the answer to it, with the candidates of all paths open now.
    /// - Throws: `SDPError` where it cannot be answered; the engine stays as it was.
    mutating func answer<Sink: EngineSink & ~Copyable>(
        offer: String, at now: Instant, into sink: inout Sink
    ) throws(SDPError) -> String {
        let remote = try SessionDescription(parsing: offer)
        reach.endGathering()
        description.candidates = ice.localCandidates
        let answer = try description.answer(to: remote)
        try begin(remote.negotiated(as: .offer), at: now, into: &sink)
        return answer
    }

    private mutating func begin<Sink: EngineSink & ~Copyable>(
        _ negotiated: NegotiatedMedia, at now: Instant, into sink: inout Sink
    ) throws(SDPError) {
        precondition(phase == .gathering, "a second description for one voice")
        phase = .connecting
        remoteFingerprints = negotiated.fingerprints
        media.negotiated(payloadType: negotiated.opus.payloadType)
        do {
            dtls = try DTLSTransport(role: negotiated.setup == .active ? .client : .server, identity: identity)
        } catch {
            finish(telling: .failed("DTLS cannot be set up: \(error)"), at: now, into: &sink)
            return
        }
        if let application = negotiated.application {
            prepareChannels(application, isDTLSClient: negotiated.setup == .active)
        }
        let passive = negotiated.candidates.filter { $0.transport == .tcp(.passive) && $0.address.isUnicast }
        reach.begin(passive: passive.sorted { $0.priority > $1.priority }.map(\.address), at: now)
        ice.expectPaths(reach.expectsPaths, at: now)
        ice.setRemote(
            negotiated.credentials, isLite: negotiated.isICELite, candidates: negotiated.candidates, at: now)
        drain(at: now, into: &sink)
    }

    // MARK: Input

    mutating func handle<Sink: EngineSink & ~Copyable>(
        _ input: EngineInput, at now: Instant, into sink: inout Sink
    ) {
        guard phase != .ended else { return }
        switch input {
        case .microphone(let payload, let sampleCount, let capturedAt):
            send(payload, sampleCount: sampleCount, at: now, into: &sink)
            dialogue?.turns.sent(capturedAt: capturedAt, at: now)
            return  // causes nothing else, and is on the audio path
        case .gate(let isOpen):
            if let messages = dialogue?.turns.gate(isOpen: isOpen, at: now) { say(messages, into: &sink) }
        case .text(let bytes):
            if let label = dialogue?.channel { sendMessage(bytes, isText: true, label: label, into: &sink) }
        case .interrupt:
            if let messages = dialogue?.turns.interrupt() { say(messages, into: &sink) }
        case .datagram(let buffer, let count, let route):
            receiveCarried(buffer, count: count, from: route, at: now, into: &sink)
        case .pathOpened(let path, let address, let localPreference):
            if Reach.isSocket(path) {
                ice.addLocal(path: path, address: address, localPreference: localPreference, at: now)
            }
            reach.opened(path, address, localPreference, at: now)
        case .pathClosed(let path):
            reach.closed(path)
            lose(path, at: now)
        case .server(let server):
            reach.add(server, at: now)
        case .proxyAwaited:
            reach.awaitProxy()
        case .proxy(let proxy):
            reach.take(proxy)
        case .nameMissing(let host):
            reach.note("The name \(host) is not found.")
        case .gather(let limit):
            reach.gather(within: limit, at: now)
        case .message(let label, let isText, let bytes):
            sendMessage(bytes, isText: isText, label: label, into: &sink)
        case .timeout:
            handleTimeout(at: now, into: &sink)
        case .close:
            finish(telling: nil, at: now, into: &sink)
        }
        drain(at: now, into: &sink)
    }

    mutating func receive<Sink: EngineSink & ~Copyable>(
        _ buffer: UnsafeMutableRawBufferPointer, count: Int, from route: Route, at now: Instant, into sink: inout Sink
    ) {
        let datagram = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        switch DatagramKind(datagram) {
        case .stun:
            ice.receive(datagram, from: route, at: now)
        case .dtls:
            receiveDTLS(datagram, from: route, at: now)
        case .rtp, .rtcp:
            guard ice.accepts(route) else {
                statistics.strayMedia &+= 1
                return
            }
            let isAuthentic = media.receive(buffer, count: count, at: now, counting: &statistics, into: &sink)
            if isAuthentic, route == ice.selectedRoute { following.heard(at: now) }
        case .unknown:
            statistics.unknownDatagrams &+= 1
        }
    }

    /// DTLS is taken from validated routes only; what comes a moment before its route is validated is kept.
    private mutating func receiveDTLS(_ datagram: UnsafeRawBufferPointer, from route: Route, at now: Instant) {
        guard dtls != nil, ice.accepts(route) else {
            if !early.keep(datagram, from: route) { statistics.strayDTLS &+= 1 }
            return
        }
        dtls?.receive(datagram, at: now)
        if phase != .connecting, route == ice.selectedRoute { following.heard(at: now) }
    }

    private mutating func send<Sink: EngineSink & ~Copyable>(
        _ payload: UnsafeRawBufferPointer, sampleCount: Int, at now: Instant, into sink: inout Sink
    ) {
        switch phase {
        case .connected, .disconnected: break
        case .gathering, .connecting, .closing, .ended: return
        }
        guard let route = ice.selectedRoute,
            let byteCount = media.packet(payload, sampleCount: sampleCount, into: outgoing, at: now)
        else { return }
        statistics.sentPackets &+= 1
        transmit(byteCount, to: route, at: now, into: &sink)
    }

    // MARK: What an input causes

    private mutating func drain<Sink: EngineSink & ~Copyable>(at now: Instant, into sink: inout Sink) {
        drainReach(at: now, into: &sink)
        while let event = ice.nextEvent() { obey(event, at: now, into: &sink) }
        drainReach(at: now, into: &sink)
        while let (byteCount, route) = ice.nextTransmit(into: outgoing) {
            transmit(byteCount, to: route, at: now, into: &sink)
        }
        drainDTLS(at: now, into: &sink)
    }

    private mutating func obey<Sink: EngineSink & ~Copyable>(
        _ event: ICEEvent, at now: Instant, into sink: inout Sink
    ) {
        switch event {
        case .validPath(let route), .selected(let route):
            validRoute = route
            if Reach.isSocket(route.path) { reach.hold() }
            if event == .selected(route) { use(route, at: now) }
            dtls?.start(at: now)
            while let datagram = early.next(where: { ice.accepts($0) }) {
                datagram.withUnsafeBytes { dtls?.receive($0, at: now) }
            }
            if case .connected = dtls?.phase { enterConnected(at: now, into: &sink) }
        case .disconnected:
            guard phase == .connected else { return }
            phase = .disconnected
            sink.report(.disconnected)
        case .recovered:
            guard phase == .disconnected else { return }
            phase = .connected
            sink.report(.connected)
        case .failed(let failure):
            finish(telling: ending(for: failure), at: now, into: &sink)
        }
    }

    /// Once path and DTLS are both there: the fingerprint decides, then media may flow.
    mutating func enterConnected<Sink: EngineSink & ~Copyable>(at now: Instant, into sink: inout Sink) {
        guard phase == .connecting, ice.selectedRoute != nil, dtls != nil else { return }
        guard dtls?.peerMatches(remoteFingerprints) == true else {
            finish(
                telling: .failed("The other side's certificate is not the one that its description names."), at: now,
                into: &sink)
            return
        }
        do {
            if var keys = try dtls?.srtpKeys() {
                defer { keys.erase() }
                try media.start(keys, at: now)
            }
        } catch {
            finish(telling: .failed("SRTP cannot be set up: \(error)"), at: now, into: &sink)
            return
        }
        phase = .connected
        sink.report(.connected)
        channels?.start(at: now, roundTrip: ice.selectedRoundTrip)
    }

    // MARK: The end

    /// Tells the other side three times within 100 ms, since no answer will say that it heard; then nothing more.
    mutating func finish<Sink: EngineSink & ~Copyable>(
        telling event: EngineEvent?, at now: Instant, into sink: inout Sink
    ) {
        switch phase {
        case .closing, .ended: return
        case .gathering, .connecting, .connected, .disconnected: break
        }
        if let event { sink.report(event) }
        if let byteCount = media.goodbye(into: outgoing, at: now) { farewell.append(Array(outgoing[..<byteCount])) }
        abortChannels(at: now)
        dtls?.close()
        while let byteCount = dtls?.nextDatagram(into: outgoing) { farewell.append(Array(outgoing[..<byteCount])) }
        sayFarewell(remaining: 3, at: now, into: &sink)
    }

    mutating func sayFarewell<Sink: EngineSink & ~Copyable>(
        remaining: Int, at now: Instant, into sink: inout Sink
    ) {
        guard let route = ice.selectedRoute ?? validRoute, !farewell.isEmpty else {
            phase = .ended
            return giveBack(at: now, into: &sink)
        }
        for datagram in farewell {
            outgoing.copyBytes(from: datagram)
            transmit(datagram.count, to: route, at: now, into: &sink)
        }
        phase = remaining > 1 ? .closing(remaining: remaining - 1, next: now + .milliseconds(50)) : .ended
        if phase == .ended { giveBack(at: now, into: &sink) }
    }
}
