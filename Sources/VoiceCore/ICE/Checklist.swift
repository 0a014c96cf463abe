/// The pairs of one ICE session (RFC 8445 6.1.2), formed from local bases and remote candidates, each combination once and all
/// of them bounded in number.
///
/// Owned by the agent. It decides which pairs there are, never what is done with them. Its order is that of forming; whoever needs
/// the best looks through all of them, since a priority changes with the role and with what a check finds out.
struct Checklist: Sendable {
    // RFC 8445 6.1.2.5 has 100 pairs at most. A part is kept for what the peer's checks bring, so that a long list of
    // candidates cannot crowd the true address out, and a flood of checks cannot grow it.
    static let pairLimit = 100
    static let describedPairLimit = 84
    static let remoteLimit = 48
    static let describedRemoteLimit = 32
    static let baseLimit = 32

    /// A remote candidate, the parts of it that matter here.
    private struct Remote: Sendable {
        var address: SocketAddress
        var priority: UInt32
    }

    private(set) var bases: [ICELocalBase] = []
    var pairs: [CandidatePair] = []
    private var remotes: [Remote] = []
    private var nextID: UInt32 = 0

    // MARK: Forming

    /// - Returns: false where there are too many bases or the path is there already.
    mutating func addBase(
        _ path: PathID, _ address: SocketAddress, _ localPreference: UInt16, kind: ICELocalBase.Kind = .host
    ) -> Bool {
        guard bases.count < Self.baseLimit, base(path) == nil else { return false }
        // Equal for one kind, transport and IP address (RFC 8445 5.1.1.3).
        let known = bases.first { $0.address.ip == address.ip }?.foundation
        let next = (bases.map(\.foundation).max() ?? 0) + 1
        let base = ICELocalBase(
            path: path, address: address, localPreference: localPreference, foundation: known ?? next, kind: kind)
        bases.append(base)
        if case .stream(let remote) = kind {
            // The one pair that there can be: a passive candidate's own (RFC 6544 6.2).
            return form(base, Remote(address: remote, priority: base.priority), limit: Self.pairLimit)
        }
        for remote in remotes { _ = form(base, remote, limit: Self.describedPairLimit) }
        return true
    }

    mutating func removeBase(_ path: PathID) {
        bases.removeAll { $0.path == path }
        pairs.removeAll { $0.local.path == path }
    }

    /// Takes a candidate of the remote description in.
    /// - Returns: false where it is over the limit.
    mutating func addDescribed(_ address: SocketAddress, priority: UInt32) -> Bool {
        if let index = remotes.firstIndex(where: { $0.address.isSame(as: address) }) {
            // Learnt from a check before the description came: what the description says holds.
            remotes[index].priority = Self.bounded(priority)
            for index in pairs.indices where pairs[index].remote.isSame(as: address) {
                pairs[index].remotePriority = Self.bounded(priority)
            }
            return true
        }
        guard remotes.count < Self.describedRemoteLimit else { return false }
        let remote = Remote(address: address, priority: Self.bounded(priority))
        remotes.append(remote)
        var isWhole = true
        for base in bases where !form(base, remote, limit: Self.describedPairLimit) { isWhole = false }
        return isWhole
    }

    /// The pair on this route, made with a peer-reflexive candidate where there is none (RFC 8445 7.3.1.3, 7.3.1.4).
    /// - Returns: its index, or nil where it would be over the limit.
    mutating func pairForCheck(on route: Route, priority: UInt32) -> Int? {
        if let index = index(route) { return index }
        guard let base = base(route.path) else { return nil }
        var remote = Remote(address: route.remote, priority: Self.bounded(priority))
        if let known = remotes.first(where: { $0.address.isSame(as: route.remote) }) {
            remote = known
        } else {
            guard remotes.count < Self.remoteLimit else { return nil }
            remotes.append(remote)
        }
        guard pairs.count < Self.pairLimit else { return nil }
        append(base, remote)
        return pairs.count - 1
    }

    /// - Returns: false where a pair was left out over the limit.
    private mutating func form(_ base: ICELocalBase, _ remote: Remote, limit: Int) -> Bool {
        guard base.canPair(with: remote.address) else { return true }
        let isThere = pairs.contains { $0.local.path == base.path && $0.remote.isSame(as: remote.address) }
        guard !isThere else { return true }
        guard pairs.count < limit else { return false }
        append(base, remote)
        return true
    }

    private mutating func append(_ base: ICELocalBase, _ remote: Remote) {
        nextID &+= 1
        pairs.append(
            CandidatePair(
                id: CandidatePairID(rawValue: nextID), local: base, remote: remote.address.reached(from: base.address),
                remotePriority: remote.priority))
    }

    /// RFC 8445 5.1.2: 1 to 2^31 - 1.
    private static func bounded(_ priority: UInt32) -> UInt32 {
        min(max(priority, 1), 0x7FFF_FFFF)
    }

    // MARK: Finding

    func base(_ path: PathID) -> ICELocalBase? {
        for base in bases where base.path == path { return base }
        return nil
    }

    func index(_ id: CandidatePairID) -> Int? {
        for index in pairs.indices where pairs[index].id == id { return index }
        return nil
    }

    func index(_ route: Route) -> Int? {
        for index in pairs.indices where pairs[index].route == route { return index }
        return nil
    }

    /// The pair and the request a response belongs to.
    func request(_ transaction: STUNTransactionID) -> (index: Int, check: ICECheck)? {
        for index in pairs.indices {
            if let check = pairs[index].request(transaction) { return (index, check) }
        }
        return nil
    }

    /// The pair of the highest priority among those that fit; the one formed first among equals.
    func best(isControlling: Bool, where fits: (CandidatePair) -> Bool) -> Int? {
        var best: (index: Int, priority: UInt64)?
        for index in pairs.indices where fits(pairs[index]) {
            let priority = pairs[index].priority(isControlling: isControlling)
            if let known = best, known.priority >= priority { continue }
            best = (index, priority)
        }
        return best?.index
    }
}
