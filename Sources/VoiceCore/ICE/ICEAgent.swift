/// One ICE session (RFC 8445): finds the paths on which both sides reach each other, agrees on one, and watches that the peer
/// still answers there (RFC 7675).
///
/// Owned by the VoiceEngine, on the network thread. Datagrams, times and local addresses come in; messages to send, events and a
/// deadline go out. After each call the owner drains `nextTransmit(into:)` and `nextEvent()` and looks at `deadline`. It never
/// opens a socket, reads a clock or traps on what a peer sends, and once a route is selected it does not allocate.
///
/// A full agent in both roles, or a lite one. Each path is a base: a UDP socket, a connection that the engine opened to a passive
/// TCP candidate, or a relay's address. Left out, and why:
/// - the frozen state: it saves checks where streams and components are many. Here there is one of each, and with peers that give
///   all their candidates one foundation it would only hold good pairs back;
/// - active and simultaneous-open TCP candidates of the peer, and a passive one of ours: nobody waits for a talk post there;
/// - trickling and restart: an offer and an answer are exchanged once. A new network is tried within the session;
/// - error responses to strangers (RFC 8489 9.1.3): their datagrams are counted and dropped, so that nobody can use the agent to
///   send to a third one;
/// - two lite agents, which could not find each other.
///
/// The parts: `+Requests` answers the peer's checks, `+Responses` takes the answers to ours, `+Checks` paces them, `+Nomination`
/// chooses the pair, `+Consent` keeps it, `+Candidates` is what the description says.
struct ICEAgent: Sendable {
    /// How far the session is; the pairs and times that belong to it stand beside.
    enum Phase: Equatable, Sendable {
        /// The remote description is not there yet.
        case waiting
        case checking
        /// Controlling: the check with USE-CANDIDATE is on its way.
        case nominating(CandidatePairID)
        case selected(CandidatePairID)
        case ended
    }

    /// A check that came before the remote description, answered already, to be followed up once that is there.
    struct EarlyCheck: Sendable {
        var route: Route
        var priority: UInt32
        var nominates: Bool
        /// The fragment the sender claims as its own.
        var fragment: [UInt8]
    }

    /// Changes by a role conflict (RFC 8445 7.3.1.1), and always true towards a lite peer.
    private(set) var isControlling: Bool
    let isLite: Bool
    let local: ICECredentials
    var statistics = ICEStatistics()
    /// When `handleTimeout` is to be called and what for; nil once the session ended, and before there is anything to do.
    private(set) var deadline: Deadline?

    // What the parts in the other files share.
    var phase = Phase.waiting
    var checklist = Checklist()
    var entropy: Entropy
    let tieBreaker: UInt64
    let localKey: STUNKey
    private(set) var remoteKey: STUNKey?
    private(set) var remoteIsLite = false
    /// The USERNAME of our checks, and what the peer's begin with.
    private var outgoingUsername: [UInt8] = []
    private var incomingUsername: [UInt8]
    var earlyChecks: [EarlyCheck] = []
    /// Pairs to be checked before all others (RFC 8445 6.1.4.1), oldest first.
    var triggered: [CandidatePairID] = []
    /// The earliest time for the next check (RFC 8445 6.1.4.2).
    var nextCheckAt = Instant(nanoseconds: 0)
    /// When checking began, which bounds it.
    var checkingSince = Instant(nanoseconds: 0)
    /// When the latest path came.
    var lastBaseAt = Instant(nanoseconds: 0)
    /// Since when no pair is left to be checked.
    var hopelessSince: Instant?
    var firstValidAt: Instant?
    /// When the nomination is to be considered again, where it waits for a check in flight.
    var nominationDue: Instant?
    var lastPeerNomination: UInt64 = 0
    /// The owner may still bring paths (a connection or a relay under way): it is too early to give up.
    var expectsPaths = false
    /// Authentic checks or answers came, whatever they said.
    var hasHeardPeer = false
    /// How paths look from outside, for the description only: their checks leave from the base itself.
    var reflexive: [(path: PathID, address: SocketAddress)] = []
    /// The controlling peer has sent a check without USE-CANDIDATE: it nominates one pair at a time.
    var peerNominatesRegularly = false
    var consent: ConsentFreshness?
    /// The latest check for consent, to be sent again.
    var consentCheck: ICECheck?
    private var transmits = BindingTransmitQueue()
    private var events: [ICEEvent] = []

    /// - Parameters:
    ///   - isControlling: true for the offerer, unless it is lite (RFC 8445 6.1.1).
    ///   - isLite: answers checks and sends none (RFC 8445 2.5); for a machine everyone can reach.
    init(isControlling: Bool, isLite: Bool = false, local: ICECredentials, entropy: Entropy) {
        var entropy = entropy
        self.isControlling = isControlling && !isLite
        self.isLite = isLite
        self.local = local
        tieBreaker = entropy.next()
        self.entropy = entropy
        localKey = STUNKey(password: local.password)
        incomingUsername = Array("\(local.fragment):".utf8)
        events.reserveCapacity(8)
        triggered.reserveCapacity(8)
    }

    // MARK: In

    /// A local transport can be used.
    /// - Parameters:
    ///   - address: where datagrams of this path are sent from; a link-local one with its interface.
    ///   - localPreference: higher is better, another one for each address (RFC 8445 5.1.2.1).
    mutating func addLocal(
        path: PathID, address: SocketAddress, localPreference: UInt16, kind: ICELocalBase.Kind = .host, at now: Instant
    ) {
        guard phase != .ended else { return }
        if !checklist.addBase(path, address, localPreference, kind: kind) { statistics.overLimit += 1 }
        lastBaseAt = now
        settle(at: now)
    }

    /// Whether a connection or a relay is still being opened.
    mutating func expectPaths(_ expects: Bool, at now: Instant) {
        guard expectsPaths != expects, phase != .ended else { return }
        expectsPaths = expects
        settle(at: now)
    }

    /// A local transport is gone, and all its pairs with it. Where the selected one was among them, the next valid one is taken.
    mutating func removeLocal(path: PathID, at now: Instant) {
        guard phase != .ended else { return }
        checklist.removeBase(path)
        reflexive.removeAll { $0.path == path }
        earlyChecks.removeAll { $0.route.path == path }
        triggered.removeAll { checklist.index($0) == nil }
        replaceLostPair(at: now)
        settle(at: now)
    }

    /// What the remote description says. Checks that came before are followed up now.
    ///
    /// Once only: other credentials in a second call are ignored, more candidates are taken.
    mutating func setRemote(
        _ credentials: ICECredentials, isLite remoteIsLite: Bool, candidates: [Candidate], at now: Instant
    ) {
        guard phase != .ended else { return }
        let isFirst = remoteKey == nil
        if isFirst {
            remoteKey = STUNKey(password: credentials.password)
            outgoingUsername = Array("\(credentials.fragment):\(local.fragment)".utf8)
            incomingUsername += Array(credentials.fragment.utf8)
            self.remoteIsLite = remoteIsLite
            if remoteIsLite, !isLite { isControlling = true }  // RFC 8445 6.1.1
            phase = .checking
            checkingSince = now
            nextCheckAt = now
        }
        // The best first, since those over the limit are left out (RFC 8445 6.1.2.5).
        let usable = candidates.filter { $0.transport == .udp && $0.address.isUnicast }
        for candidate in usable.sorted(by: { $0.priority > $1.priority }) {
            if !checklist.addDescribed(candidate.address, priority: candidate.priority) { statistics.overLimit += 1 }
        }
        if isFirst { followEarlyChecks(from: credentials, at: now) }
        settle(at: now)
    }

    /// A datagram that `STUNMessage.isSTUN` says yes to. Whatever it holds, it never traps.
    mutating func receive(_ datagram: UnsafeRawBufferPointer, from route: Route, at now: Instant) {
        guard phase != .ended else { return }
        let message: STUNMessage
        do {
            message = try STUNMessage(parsing: datagram)
        } catch .wrongFingerprint {
            statistics.wrongFingerprint += 1
            return
        } catch {
            statistics.malformed += 1
            return
        }
        guard let base = checklist.base(route.path) else {
            statistics.unknownPath += 1
            return
        }
        guard message.method == STUNHeader.binding else {
            statistics.indications += 1
            return
        }
        let route = Route(path: route.path, remote: route.remote.reached(from: base.address))
        switch message.kind {
        case .request: answer(message, from: route, at: now)
        case .success, .error: conclude(message, from: route, at: now)
        case .indication: statistics.indications += 1
        }
        settle(at: now)
    }

    /// The deadline has come; early or late calls do no harm.
    mutating func handleTimeout(at now: Instant) {
        guard phase != .ended else { return }
        repeatChecks(at: now)
        watchConsent(at: now)
        settle(at: now)
        endIfHopeless(at: now)
    }

    /// Ends the session without an event: nothing is sent or taken any more.
    mutating func close() {
        phase = .ended
        transmits.removeAll()
        triggered.removeAll()
        earlyChecks.removeAll()
        consent = nil
        deadline = nil
    }

    // MARK: Out

    /// Encodes the next message into `buffer`, which should have 1200 bytes; call until nil.
    mutating func nextTransmit(into buffer: UnsafeMutableRawBufferPointer) -> (byteCount: Int, route: Route)? {
        while let transmit = transmits.removeFirst() {
            if let byteCount = encode(transmit, into: buffer) { return (byteCount, transmit.route) }
            statistics.notSent += 1
        }
        return nil
    }

    /// The next event in the order they happened; call until nil.
    mutating func nextEvent() -> ICEEvent? {
        events.isEmpty ? nil : events.removeFirst()
    }

    /// Where datagrams go, once a pair is selected.
    var selectedRoute: Route? { selectedPair.map { checklist.pairs[$0].route } }

    /// The shortest round trip measured on the selected pair.
    var selectedRoundTrip: Duration? { selectedPair.flatMap { checklist.pairs[$0].validation?.roundTrip } }

    /// Whether DTLS and media may be sent to and taken from this route: a check of ours was answered on it.
    func accepts(_ route: Route) -> Bool {
        guard let index = knownPair(route) else { return false }
        return checklist.pairs[index].validation != nil
    }

    /// Whether an authentic check came from this route, which says that the sender has our description though our own check is not
    /// answered yet. What comes from there may be kept for a moment, never acted on.
    func hasHeard(_ route: Route) -> Bool {
        if let index = knownPair(route) { return checklist.pairs[index].wasHeard }
        return phase != .ended && earlyChecks.contains { $0.route == route }
    }

    // MARK: Shared by the parts

    var selectedPair: Int? {
        switch phase {
        case .selected(let id): checklist.index(id)
        case .waiting, .checking, .nominating, .ended: nil
        }
    }

    private func knownPair(_ route: Route) -> Int? {
        guard phase != .ended else { return nil }
        // The selected pair first: this is asked for every packet.
        if let index = selectedPair, checklist.pairs[index].route == route { return index }
        guard let base = checklist.base(route.path) else { return nil }
        return checklist.index(Route(path: route.path, remote: route.remote.reached(from: base.address)))
    }

    mutating func send(_ transmit: BindingTransmit) {
        if !transmits.append(transmit) { statistics.notSent += 1 }
    }

    mutating func emit(_ event: ICEEvent) {
        events.append(event)
    }

    mutating func fail(_ failure: ICEFailure) {
        close()
        emit(.failed(failure))
    }

    /// Whether a request is meant for this session: "our fragment:their fragment", the latter once it is known (RFC 8445 7.2.2).
    func isOurs(_ username: UnsafeRawBufferPointer?) -> Bool {
        guard let username, username.count >= incomingUsername.count else { return false }
        if remoteKey != nil, username.count != incomingUsername.count { return false }
        return username.prefix(incomingUsername.count).elementsEqual(incomingUsername)
    }

    /// What follows our own fragment in a USERNAME that `isOurs`, before the remote description is there.
    func claimedFragment(_ username: UnsafeRawBufferPointer?) -> [UInt8] {
        username.map { Array($0.dropFirst(incomingUsername.count)) } ?? []
    }

    /// Changes the role. Checks in flight that claim the old one are begun anew (RFC 8445 7.2.5.1, 7.3.1.1).
    mutating func take(role isControlling: Bool) {
        guard !isLite, !remoteIsLite, self.isControlling != isControlling else { return }
        self.isControlling = isControlling
        if case .nominating = phase { phase = .checking }
        for index in checklist.pairs.indices where checklist.pairs[index].check != nil {
            let isValid = checklist.pairs[index].validation != nil
            checklist.pairs[index].cancel(leaving: isValid ? .idle : .waiting)
        }
    }

    /// Does what has become due and finds the next deadline. Every way in ends here.
    private mutating func settle(at now: Instant) {
        switch phase {
        case .waiting, .ended: return
        case .checking, .nominating, .selected: break
        }
        considerNomination(at: now)
        startChecks(at: now)
        noteHope(at: now)
        deadline = earliestDeadline()
    }

    private func encode(_ transmit: BindingTransmit, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        switch transmit {
        case .request(let check, let priority, _):
            guard let remoteKey else { return nil }
            var writer = STUNWriter(buffer, kind: .request, transaction: check.transaction)
            writer.username(outgoingUsername)
            writer.role(
                check.wasControlling ? .controlling(tieBreaker: tieBreaker) : .controlled(tieBreaker: tieBreaker))
            writer.priority(priority)
            if check.nominates { writer.useCandidate() }
            return writer.finish(key: remoteKey)
        case .success(let transaction, let route):
            var writer = STUNWriter(buffer, kind: .success, transaction: transaction)
            writer.xorMappedAddress(route.remote)
            return writer.finish(key: localKey)
        case .roleConflict(let transaction, _):
            var writer = STUNWriter(buffer, kind: .error, transaction: transaction)
            writer.errorCode(STUNErrorCode.roleConflict, reason: "Role Conflict")
            return writer.finish(key: localKey)
        case .unknownAttributes(let transaction, let types, _):
            var writer = STUNWriter(buffer, kind: .error, transaction: transaction)
            writer.errorCode(STUNErrorCode.unknownAttribute, reason: "Unknown Attribute")
            writer.unknownAttributes(types)
            return writer.finish(key: localKey)
        }
    }
}
