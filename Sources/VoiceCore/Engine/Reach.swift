/// What lies between the engine's protocols and the sockets: how each path looks from outside, relays, and connections where
/// datagrams do not pass.
///
/// Owned by the engine, on the network thread. Servers, socket paths, what connections became and the bytes of both come in; messages,
/// events and a deadline go out. A path of its own making has a number from `firstOwnPath` on; all below are the runtime's UDP
/// sockets, whose datagrams it lets pass untouched.
///
/// Datagrams are preferred, and nothing waits for them: what is opened besides begins `headStart` later and is given up as soon as
/// it is not needed. The parts: `+Relays` keeps allocations, `+Streams` opens connections and what goes over them.
struct Reach {
    /// What it tells the engine.
    enum Event {
        /// A STUN server sees the path so.
        case reflexive(PathID, SocketAddress)
        case opened(PathID, address: SocketAddress, localPreference: UInt16, ICELocalBase.Kind)
        case closed(PathID)
        /// A connection is to be opened, and told of as a path once it is.
        case connect(PathID, from: IPAddress, to: SocketAddress)
        case disconnect(PathID)
    }

    struct Socket {
        var path: PathID
        var address: SocketAddress
        var localPreference: UInt16
    }

    static let firstOwnPath: UInt16 = 0x8000
    static let serverLimit = 16
    /// How long the description waits for servers in all, and for the slower ones once one has answered.
    static let gatheringLimit: Duration = .seconds(1)
    static let stragglerLimit: Duration = .milliseconds(200)
    /// How much later than datagrams connections begin. No source: most calls are connected by then, and those that need a stream
    /// hardly feel it.
    static let headStart: Duration = .milliseconds(200)

    private(set) var sockets: [Socket] = []
    private(set) var servers: [ReachServer] = []
    private(set) var proxy: ReachProxy?
    private var opening = Opening.possible
    var relays: [Relay] = []
    var streams: [Stream] = []
    /// The passive TCP candidates of the other side, the best first.
    var passive: [SocketAddress] = []
    var outbox = Outbox()
    var events: [Event] = []
    var entropy: Entropy
    let scratch = Scratch()
    /// Something came back over UDP, if only from a server.
    var hasHeardServer = false
    /// What went wrong with servers and connections, for the sentence of a failure.
    private(set) var problems: [String] = []
    private var reflexive = ReflexiveGathering()
    private var lastOwnPath = firstOwnPath
    private var gathering = Gathering.idle
    /// When connections begin, unless they are not needed by then.
    private var relayStreamsDue: Instant?
    private var candidateStreamsDue: Instant?

    /// Whether connections can be begun.
    private enum Opening {
        case possible
        /// The proxy's address is being looked up.
        case awaitsProxy
        /// There is to be a proxy, and it has no address.
        case impossible
    }

    private enum Gathering {
        case idle
        case running(until: Instant)
        case done
    }

    init(entropy: Entropy) {
        self.entropy = entropy
    }

    /// Whether a datagram on this path is the engine's own concern, with nothing in between.
    static func isSocket(_ path: PathID) -> Bool { path.rawValue < firstOwnPath }

    // MARK: In

    /// A socket can be used, or a connection has been opened.
    mutating func opened(_ path: PathID, _ address: SocketAddress, _ localPreference: UInt16, at now: Instant) {
        guard Self.isSocket(path) else { return connected(path, address, at: now) }
        sockets.append(Socket(path: path, address: address, localPreference: localPreference))
        if case .idle = gathering { return }
        for server in servers where server.transport == .udp { use(server, on: path, at: now) }
    }

    /// A socket or a connection is gone, and what it carried.
    mutating func closed(_ path: PathID) {
        sockets.removeAll { $0.path == path }
        reflexive.remove(path)
        if let stream = streams.first(where: { $0.path == path }) {
            if stream.state != .established { note("The connection to \(stream.name) did not come about.") }
            streams.removeAll { $0.path == path }
        }
        for relay in relays where relay.carrier == path {
            for path in relay.opened { events.append(.closed(path)) }
        }
        relays.removeAll { $0.carrier == path }
    }

    mutating func add(_ server: ReachServer, at now: Instant) {
        guard servers.count < Self.serverLimit, !servers.contains(server) else { return }
        servers.append(server)
        if case .idle = gathering { return }
        if server.transport == .udp {
            for socket in sockets { use(server, on: socket.path, at: now) }
        } else if relayStreamsDue == nil {
            relayStreamsDue = now
        }
    }

    /// Connections wait until it is known where the proxy is.
    mutating func awaitProxy() {
        opening = .awaitsProxy
    }

    /// - Parameter proxy: nil where there is to be one and it cannot be found; nothing goes past it.
    mutating func take(_ proxy: ReachProxy?) {
        self.proxy = proxy
        opening = proxy == nil ? .impossible : .possible
    }

    /// Asks all servers, for the description that is to be written soon.
    /// - Parameter limit: how long the description waits for them at most.
    mutating func gather(within limit: Duration, at now: Instant) {
        guard case .idle = gathering else { return }
        gathering = .running(until: now + min(limit, Self.gatheringLimit))
        for server in servers where server.transport == .udp {
            for socket in sockets { use(server, on: socket.path, at: now) }
        }
        relayStreamsDue = now + Self.headStart
    }

    /// The description is written: servers that have not said how we look need not any more.
    mutating func endGathering() {
        gathering = .done
        reflexive.stop()
    }

    /// Whether the description should wait a moment longer for the servers' answers.
    func isGathering(at now: Instant) -> Bool {
        guard case .running(let until) = gathering, now < until else { return false }
        return reflexive.isWaiting || relays.contains { Self.isSocket($0.carrier) && !$0.isOpen }
    }

    /// The other side is known: what it listens at for connections is tried unless datagrams get there first.
    mutating func begin(passive: [SocketAddress], at now: Instant) {
        self.passive = passive
        candidateStreamsDue = now + Self.headStart
        relayStreamsDue = now + Self.headStart
    }

    /// The way that was used is gone: all ways are tried anew.
    mutating func beginAnew(at now: Instant) {
        for server in servers where server.transport == .udp {
            for socket in sockets { use(server, on: socket.path, at: now) }
        }
        begin(passive: passive, at: now)
    }

    /// A path for datagrams was found: no connection is begun any more.
    mutating func hold() {
        candidateStreamsDue = nil
        relayStreamsDue = nil
    }

    /// Whether a path may still come of what is under way.
    var expectsPaths: Bool {
        relays.contains { !$0.isOpen } || streams.contains { $0.state != .established }
            || (opening != .impossible
                && ((candidateStreamsDue != nil && !passive.isEmpty)
                    || (relayStreamsDue != nil && servers.contains { $0.transport != .udp })))
    }

    /// What a socket's datagram was.
    enum Carried {
        /// None of a server's.
        case no
        /// A server's own.
        case nothing
        /// A relay's, with another in these of its bytes.
        case datagram(Range<Int>, Route)
    }

    /// A datagram from a socket.
    mutating func receive(_ datagram: UnsafeRawBufferPointer, from route: Route, at now: Instant) -> Carried {
        guard !servers.isEmpty else { return .no }
        for index in relays.indices
        where relays[index].carrier == route.path && relays[index].server.address == route.remote {
            hasHeardServer = true
            return receive(datagram, onRelay: index, at: now)
        }
        guard reflexive.isWaiting, STUNMessage.isSTUN(datagram), let message = try? STUNMessage(parsing: datagram),
            let mapped = reflexive.receive(message, from: route)
        else { return .no }
        hasHeardServer = true
        events.append(.reflexive(route.path, mapped))
        hurry(at: now)
        return .nothing
    }

    mutating func handleTimeout(at now: Instant) {
        reflexive.handleTimeout(at: now)
        flushQueries()
        handleRelayTimeouts(at: now)
        handleStreamTimeouts(at: now)
        guard opening == .possible else { return }
        if let due = candidateStreamsDue, now >= due {
            candidateStreamsDue = nil
            openCandidateStreams(at: now)
        }
        if let due = relayStreamsDue, now >= due {
            relayStreamsDue = nil
            openRelayStreams(at: now)
        }
    }

    /// Sends what is for a peer behind a relay or a connection.
    mutating func send(_ datagram: UnsafeRawBufferPointer, to route: Route, at now: Instant) {
        if let index = streams.firstIndex(where: { $0.path == route.path }) {
            sendFramed(datagram, onStream: index)
        } else {
            send(datagram, toRelayed: route, at: now)
        }
    }

    /// The voice goes this way from now on: what it does not need is given back, and a relay in use gets a channel.
    mutating func use(_ route: Route, isFinal: Bool, at now: Instant) {
        hold()
        useRelay(route, isFinal: isFinal, at: now)
        guard isFinal else { return }
        let carriers = Set(relays.filter { $0.allocation.phase == .active }.map(\.carrier))
        for stream in streams where stream.path != route.path && !carriers.contains(stream.path) {
            drop(stream.path)
        }
    }

    /// Gives all back.
    mutating func close(at now: Instant) {
        hold()
        reflexive.stop()
        closeRelays(at: now)
    }

    // MARK: Out

    mutating func nextEvent() -> Event? {
        events.isEmpty ? nil : events.removeFirst()
    }

    var deadline: Instant? {
        var earliest = reflexive.deadline
        if opening == .possible {
            earliest = .earlier(earliest, .earlier(candidateStreamsDue, relayStreamsDue))
        }
        for relay in relays { earliest = .earlier(earliest, relay.allocation.deadline) }
        for stream in streams where stream.state != .established { earliest = .earlier(earliest, stream.deadline) }
        return earliest
    }

    // MARK: Shared by the parts

    mutating func nextOwnPath() -> PathID {
        lastOwnPath = lastOwnPath &+ 1 | Self.firstOwnPath
        return PathID(rawValue: lastOwnPath)
    }

    /// One has answered, so that the servers can be reached: the others get a moment, not the whole time.
    mutating func hurry(at now: Instant) {
        if case .running(let until) = gathering { gathering = .running(until: min(until, now + Self.stragglerLimit)) }
    }

    /// Keeps why something did not work, the first few of them.
    mutating func note(_ problem: String) {
        if problems.count < 8, !problems.contains(problem) { problems.append(problem) }
    }

    private mutating func use(_ server: ReachServer, on path: PathID, at now: Instant) {
        guard let socket = sockets.first(where: { $0.path == path }), socket.address.canPair(with: server.address)
        else { return }
        switch server.service {
        case .reflection:
            guard case .running = gathering else { return }
            reflexive.ask(on: Route(path: path, remote: server.address), entropy: &entropy, at: now)
            flushQueries()
        case .relay:
            addRelay(server, over: path, localPreference: socket.localPreference, at: now)
        }
    }

    private mutating func flushQueries() {
        while let (byteCount, route) = reflexive.nextTransmit(into: scratch.bytes) {
            outbox.append(scratch.bytes, byteCount, to: route)
        }
    }
}
