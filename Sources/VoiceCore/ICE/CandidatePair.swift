/// One Binding request of ours and when it was or will be repeated (RFC 8489 6.2.1).
struct ICECheck: Sendable {
    // RFC 8489 6.2.1: Rc sends in all, the last of which is waited for Rm times the first interval. Fewer and shorter than its 7
    // and 16: where there is no other path a check begins anew, and the person at the button waits.
    static let sends = 5
    static let lastWait = 8
    /// No repetition waits longer than this, or than the first did: on a slow path with loss the one nomination would else take ten
    /// seconds to come through.
    static let longestWait: Duration = .milliseconds(800)

    let transaction: STUNTransactionID
    /// Our role as the request says it; a role conflict is judged by it.
    let wasControlling: Bool
    /// Carries USE-CANDIDATE.
    let nominates: Bool
    let firstSentAt: Instant
    let timeout: Duration
    private(set) var sendCount = 1
    /// When it is repeated, or given up once it was sent `sends` times.
    private(set) var dueAt: Instant

    init(
        transaction: STUNTransactionID, wasControlling: Bool, nominates: Bool, timeout: Duration, at now: Instant
    ) {
        self.transaction = transaction
        self.wasControlling = wasControlling
        self.nominates = nominates
        self.timeout = timeout
        firstSentAt = now
        dueAt = now + timeout
    }

    var isExhausted: Bool { sendCount >= Self.sends }

    /// Notes that it was sent once more.
    mutating func repeated(at now: Instant) {
        sendCount += 1
        // Doubling: the shift is at most 6.
        let wait = timeout * (isExhausted ? Self.lastWait : 1 << (sendCount - 1))
        dueAt = now + min(wait, max(timeout, Self.longestWait))
    }
}

/// Names a pair for as long as the agent lives; an index does not, since pairs go.
struct CandidatePairID: Hashable, Sendable {
    var rawValue: UInt32
}

/// A local base and a remote candidate that are tried together (RFC 8445 6.1.2), with all that is known of them.
struct CandidatePair: Sendable {
    /// What our checks on the pair are doing (RFC 8445 6.1.2.6; frozen is left out, see `ICEAgent`).
    enum State: Sendable {
        case waiting
        case inProgress(ICECheck)
        /// Nothing is in flight: the pair was answered, or its checks were stopped.
        case idle
        case failed
    }

    /// That a check was answered: the pair is in the valid list (RFC 8445 7.2.5.3).
    struct Validation: Sendable {
        /// The shortest yet; the time to an answer of a repeated request counts from its first send, so it is never too short.
        var roundTrip: Duration
        var answeredAt: Instant
        /// As the far end saw us.
        var mappedAddress: SocketAddress?
    }

    let id: CandidatePairID
    let local: ICELocalBase
    let remote: SocketAddress
    var remotePriority: UInt32
    var state: State = .waiting
    var validation: Validation?
    /// An authentic check came in on it.
    var wasHeard = false
    /// Where the controlling peer nominated it: a number that grows from one nomination to the next.
    var peerNomination: UInt64?

    /// Requests that are no longer repeated but whose answer still counts (RFC 8445 7.3.1.4, RFC 7675 5.1); the oldest is overwritten.
    private var earlier: [ICECheck] = []
    private var nextEarlier = 0
    private static let earlierKept = 6

    init(id: CandidatePairID, local: ICELocalBase, remote: SocketAddress, remotePriority: UInt32) {
        self.id = id
        self.local = local
        self.remote = remote
        self.remotePriority = remotePriority
    }

    var route: Route { Route(path: local.path, remote: remote) }

    /// The check in flight, if one is.
    var check: ICECheck? {
        switch state {
        case .inProgress(let check): check
        case .waiting, .idle, .failed: nil
        }
    }

    /// RFC 8445 6.1.2.3. Behind a NAT the local candidate of the valid pair is a peer-reflexive one (RFC 8445 7.2.5.3.2).
    func priority(isControlling: Bool) -> UInt64 {
        let isReflexive = validation?.mappedAddress.map { !$0.isSame(as: local.address) } ?? false
        let own = UInt64(isReflexive ? local.reflexivePriority : local.priority)
        let other = UInt64(remotePriority)
        let (controlling, controlled) = isControlling ? (own, other) : (other, own)
        // Both are below 2^31, so nothing wraps.
        return min(own, other) << 32 + 2 * max(own, other) + (controlling > controlled ? 1 : 0)
    }

    /// The request with this transaction, in flight or an earlier one.
    func request(_ transaction: STUNTransactionID) -> ICECheck? {
        if let check, check.transaction == transaction { return check }
        for check in earlier where check.transaction == transaction { return check }
        return nil
    }

    /// Keeps a request whose answer is to count although it is not repeated.
    mutating func keep(_ check: ICECheck) {
        if earlier.count < Self.earlierKept {
            if earlier.isEmpty { earlier.reserveCapacity(Self.earlierKept) }
            earlier.append(check)
        } else {
            earlier[nextEarlier] = check
            nextEarlier = (nextEarlier + 1) % Self.earlierKept
        }
    }

    /// Stops repeating the check in flight, if one is; its answer still counts.
    mutating func cancel(leaving next: State) {
        if let check { keep(check) }
        state = next
    }
}

/// A local address that checks are sent from: a host candidate and its base in one (RFC 8445 5.1.1.1), an open connection, or
/// the address that a relay lends us.
struct ICELocalBase: Sendable {
    /// What stands behind a path, the best first: media is better off where nothing waits for a lost segment.
    enum Kind: Equatable, Sendable {
        case host
        case relay
        /// A connection that we opened, which reaches this one address (RFC 6544).
        case stream(to: SocketAddress)
        /// A relay that is itself reached by a stream.
        case streamedRelay
    }

    let path: PathID
    let address: SocketAddress
    let localPreference: UInt16
    let foundation: Int
    var kind = Kind.host

    var priority: UInt32 { Candidate.priority(typePreference: typePreferences.own, localPreference: localPreference) }
    /// What a check claims for the candidate the peer may learn from it (RFC 8445 7.1.1).
    var reflexivePriority: UInt32 {
        Candidate.priority(typePreference: typePreferences.reflexive, localPreference: localPreference)
    }

    /// Which paths are preferred whatever their round trip: the lower the better.
    var rank: Int {
        switch kind {
        case .host: 0
        case .relay: 1
        case .stream: 2
        case .streamedRelay: 3
        }
    }

    /// RFC 8445 5.1.2.2 for UDP; those of TCP lie below all of UDP's that are direct, and above those of relays (RFC 6544 4.2).
    private var typePreferences: (own: UInt32, reflexive: UInt32) {
        switch kind {
        case .host: (126, 110)
        case .stream: (90, 80)
        case .relay: (2, 2)
        case .streamedRelay: (1, 1)
        }
    }

    func canPair(with remote: SocketAddress) -> Bool {
        switch kind {
        case .host, .relay, .streamedRelay: address.canPair(with: remote)
        case .stream(let connected): connected.isSame(as: remote)
        }
    }
}

extension SocketAddress {
    /// Equal, whatever interface a link-local address belongs to, which the wire does not say.
    func isSame(as other: SocketAddress) -> Bool {
        switch (ip, other.ip) {
        case (.v4(let a), .v4(let b)): a == b && port == other.port
        case (.v6(let a, let b, _), .v6(let c, let d, _)): a == c && b == d && port == other.port
        case (.v4, .v6), (.v6, .v4): false
        }
    }

    /// The address as it is reached from `local`: a link-local one belongs to the same interface.
    func reached(from local: SocketAddress) -> SocketAddress {
        guard ip.isLinkLocal, case .v6(let high, let low, _) = ip, case .v6(_, _, let scope) = local.ip else {
            return self
        }
        return SocketAddress(ip: .v6(high: high, low: low, scope: scope), port: port)
    }

    /// Whether the two can be a pair at all (RFC 8445 6.1.2.2): one family, link-local with link-local, loopback with loopback.
    func canPair(with remote: SocketAddress) -> Bool {
        guard ip.isIPv6 == remote.ip.isIPv6, ip.isLoopback == remote.ip.isLoopback else { return false }
        return !ip.isIPv6 || ip.isLinkLocal == remote.ip.isLinkLocal
    }

    /// False for what no single host has: unspecified, multicast and broadcast addresses, IPv4 in IPv6 (RFC 8445 5.1.1.1), port 0.
    var isUnicast: Bool {
        guard port != 0 else { return false }
        switch ip {
        case .v4(let bits):
            return bits >> 24 != 0 && bits >> 28 != 0xE && bits != .max
        case .v6(let high, let low, _):
            let isMapped = high == 0 && low >> 32 == 0xFFFF
            return !(high == 0 && low == 0) && !isMapped && high >> 56 != 0xFF
        }
    }
}
