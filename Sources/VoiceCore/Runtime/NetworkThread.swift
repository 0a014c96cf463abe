internal import CLinux
internal import Glibc

/// The loop of the network thread: it owns the engine and the sockets, waits for datagrams, packets, commands and the
/// engine's deadline, and hands each to the engine.
///
/// A local value of its thread. It ends when the engine has ended.
struct NetworkThread: ~Copyable {
    private let runtime: VoiceRuntime
    private let pulse: Pulse
    var engine: VoiceEngine
    var sink: NetworkSink
    private let poll: Int32
    private var delay = SoundDelay()
    private var lastPath: UInt16 = 0
    var names = ServerNames()
    /// Whether connections go through a proxy.
    var hasProxy = false
    /// The proxy whose name is being looked up.
    var awaitedProxy: VoiceProxy?
    private var waiting: WaitingDescription?
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 2_048, alignment: 16)
    private let ready = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: 16)

    private static let mailboxTag = UInt64.max
    private static let changesTag = UInt64.max - 1
    /// Where the kernel tells of new and lost addresses; nil where it does not, and they are only looked for at an offer.
    private let changes = try? AddressWatch()

    /// What the libraries do once in a process is done before the first press: libsrtp2 is started and kept so, and OpenSSL has
    /// set up one association, which cost milliseconds the first time.
    private static let libraries: SRTPLibrary? = {
        DTLSContext.startLibrary()
        if let identity = try? DTLSIdentity() { _ = try? DTLSTransport(role: .server, identity: identity) }
        return try? SRTPLibrary()
    }()

    /// Runs until the voice has ended. Called on a thread of its own.
    static func run(_ runtime: VoiceRuntime, side: VoiceSide, pulse: Pulse) {
        do {
            _ = Self.libraries
            let identity = try DTLSIdentity()
            let poll = try checked("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) }
            var thread = NetworkThread(runtime, side: side, pulse: pulse, identity: identity, poll: poll)
            try thread.watch(
                runtime.mailbox.wakeDescriptor, tag: Self.mailboxTag, events: EPOLLIN.rawValue | EPOLLET.rawValue)
            if let changes = thread.changes {
                try thread.watch(changes.descriptor, tag: Self.changesTag, events: EPOLLIN.rawValue)
            }
            thread.renewPaths()
            thread.loop()
            if thread.delay.count > 0 {
                runtime.diagnose(.microphoneDelay(mean: thread.delay.mean, longest: thread.delay.longest))
            }
            if let count = thread.engine.dialogue?.unreadableCount, count > 0 {
                runtime.diagnose(.unreadableMessages(count))
            }
        } catch {
            runtime.events.push(.error(PBVoiceError(.invalidConfiguration, "The voice cannot be prepared: \(error)")))
            refuseAll(runtime, PBVoiceError(.invalidConfiguration, "The voice could not be prepared: \(error)"))
        }
        runtime.isClosing.store(true, ordering: .releasing)
        runtime.mailbox.close()
        refuseAll(runtime, VoiceRuntime.closedError)
        runtime.events.finish()
    }

    private init(_ runtime: VoiceRuntime, side: VoiceSide, pulse: Pulse, identity: DTLSIdentity, poll: Int32) {
        self.runtime = runtime
        self.pulse = pulse
        self.poll = poll
        sink = NetworkSink(runtime, poll: poll)
        engine = VoiceEngine(
            side: side, identity: identity, channel: side == .offering ? runtime.configuration.channel : nil,
            turns: runtime.isProvider ? nil : TurnTaking(isByButton: runtime.configuration.takesTurnsByMuting),
            entropy: .system, unixOffset: Self.unixOffset)
    }

    deinit {
        Glibc.close(poll)
        buffer.deallocate()
        ready.deallocate()
    }

    private mutating func loop() {
        while !engine.hasEnded {
            let count = wait()
            pulse.beat(at: .now)
            for index in 0..<count {
                let tag = ready[index].data.u64
                if tag == Self.mailboxTag { continue }
                if tag == Self.changesTag {
                    changes?.drain(with: buffer)
                    renewPaths()
                    continue
                }
                let path = PathID(rawValue: UInt16(truncatingIfNeeded: tag))
                if let connection = sink.connection(path) {
                    serve(connection, path, at: .now)
                } else {
                    receive(path)
                }
            }
            sendMicrophone()
            obeyCommands()
            describeIfPossible()
            let now = Instant.now
            if let deadline = engine.deadline, deadline.at <= now {
                engine.handle(.timeout, at: now, into: &sink)
            }
            tendConnections()
        }
    }

    /// - Returns: how many entries of `ready` hold something; 0 after a deadline, or the pulse's longest rest.
    private mutating func wait() -> Int {
        guard let entries = ready.baseAddress else { return 0 }
        let now = Instant.now
        var until = now + Pulse.longestRest
        if let deadline = engine.deadline { until = min(until, deadline.at) }
        if let waiting { until = min(until, min(waiting.until, now + .milliseconds(50))) }
        let nanoseconds = max(0, until.nanoseconds &- now.nanoseconds)
        var timeout = timespec(
            tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        return Int(max(0, epoll_pwait2(poll, entries, Int32(ready.count), &timeout, nil)))
    }

    private mutating func receive(_ path: PathID) {
        guard let socket = sink.socket(path),
            let datagram = socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<1_600]))
        else { return }
        let route = Route(path: path, remote: datagram.from)
        engine.handle(.datagram(buffer, count: datagram.byteCount, route), at: .now, into: &sink)
    }

    private mutating func sendMicrophone() {
        while let packet = runtime.microphone.pop(into: buffer) {
            let payload = UnsafeRawBufferPointer(rebasing: buffer[..<packet.byteCount])
            engine.handle(
                .microphone(
                    payload, sampleCount: packet.header.sampleCount, capturedAt: packet.header.capturedAt),
                at: .now, into: &sink)
            if let capturedAt = packet.header.capturedAt { delay.add(Instant.now - capturedAt) }
        }
    }

    private mutating func obeyCommands() {
        while let command = runtime.mailbox.next() {
            let now = Instant.now
            switch command {
            case .describe(let wanted, let timeout, let reach, let reply):
                renewPaths()
                use(reach.proxy, at: now)
                learn(reach.servers, at: now)
                engine.handle(.gather(within: timeout), at: now, into: &sink)
                waiting = WaitingDescription(
                    wanted: wanted, until: now + timeout, namesUntil: now + min(timeout, Reach.gatheringLimit),
                    reply: reply)
            case .accept(let answer, let servers, let reply):
                reply.give(accept(answer, at: now))
                learn(servers, at: now)
            case .found(let host, let addresses): take(addresses, of: host, at: now)
            case .gate(let isOpen): engine.handle(.gate(isOpen: isOpen), at: now, into: &sink)
            case .interrupt: engine.handle(.interrupt, at: now, into: &sink)
            case .text(let bytes): engine.handle(.text(bytes), at: now, into: &sink)
            case .message(let label, let isText, let bytes):
                engine.handle(.message(label: label, isText: isText, bytes: bytes), at: now, into: &sink)
            case .close:
                engine.handle(.close, at: now, into: &sink)
            }
        }
    }

    private mutating func accept(_ answer: String, at now: Instant) -> Result<Void, PBVoiceError> {
        guard engine.phase == .gathering else { return .failure(VoiceRuntime.closedError) }
        do {
            return .success(try engine.accept(answer: answer, at: now, into: &sink))
        } catch {
            return .failure(PBVoiceError(.invalidAnswer, "The provider's answer: \(error)", underlying: error))
        }
    }

    private mutating func answer(_ offer: String, at now: Instant) -> Result<String, PBVoiceError> {
        guard engine.phase == .gathering else { return .failure(VoiceRuntime.closedError) }
        do {
            return .success(try engine.answer(offer: offer, at: now, into: &sink))
        } catch {
            return .failure(PBVoiceError(.invalidAnswer, "The offer: \(error)", underlying: error))
        }
    }

    /// Gives the description as soon as there is an address to put into it, or says that there is none.
    private mutating func describeIfPossible() {
        guard let waiting else { return }
        if sink.sockets.isEmpty { renewPaths() }
        let now = Instant.now
        if !sink.sockets.isEmpty {
            guard !engine.isGathering(at: now), names.pending.isEmpty || now >= waiting.namesUntil else { return }
            self.waiting = nil
            switch waiting.wanted {
            case .offer: waiting.reply.give(.success(engine.offer()))
            case .answer(let offer): waiting.reply.give(answer(offer, at: now))
            }
        } else if now >= waiting.until {
            self.waiting = nil
            waiting.reply.give(
                .failure(
                    PBVoiceError(
                        .noNetwork, "No network interface is up with an address; look at the cable or the wireless.")))
        }
    }

    mutating func lookUp(_ host: String) {
        let mailbox = runtime.mailbox
        NameLookup.start(host) { mailbox.post(.found(host: host, $0)) }
    }

    /// Opens a socket on each address that is new and closes those whose address is gone.
    private mutating func renewPaths() {
        let usable = NetworkInterfaces.usable(configuration: runtime.configuration)
        let now = Instant.now
        for gone in sink.sockets where !usable.contains(where: { $0.ip == gone.socket.address.ip }) {
            engine.handle(.pathClosed(gone.path), at: now, into: &sink)
            sink.remove(gone.path)
        }
        for interface in usable where !sink.sockets.contains(where: { $0.socket.address.ip == interface.ip }) {
            do {
                let socket = try UDPSocket(ip: interface.ip)
                lastPath &+= 1
                let path = PathID(rawValue: lastPath)
                try watch(socket.descriptor, tag: UInt64(lastPath), events: EPOLLIN.rawValue)
                sink.sockets.append((path, socket))
                engine.handle(
                    .pathOpened(path, address: socket.address, localPreference: UInt16.max &- lastPath),
                    at: now, into: &sink)
            } catch {
                runtime.diagnose(.interfaceUnusable(name: interface.name, reason: "\(error)"))
            }
        }
    }

    private func watch(_ descriptor: Int32, tag: UInt64, events: UInt32) throws(SystemCallError) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: tag))
        try checked("epoll_ctl") { epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) }
    }

    /// What has to be added to CLOCK_MONOTONIC to get the time since 1970.
    private static var unixOffset: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec) - .nanoseconds(Instant.now.nanoseconds)
    }

    /// A description that waits for the first network address, and for the servers' answers.
    private struct WaitingDescription {
        var wanted: WantedDescription
        var until: Instant
        /// How long it waits for names that are being looked up.
        var namesUntil: Instant
        var reply: Reply<String>
    }

    private static func refuseAll(_ runtime: VoiceRuntime, _ error: PBVoiceError) {
        while let command = runtime.mailbox.next() {
            switch command {
            case .describe(_, _, _, let reply): reply.give(.failure(error))
            case .accept(_, _, let reply): reply.give(.failure(error))
            case .found, .message, .gate, .interrupt, .text, .close: break
            }
        }
    }
}
