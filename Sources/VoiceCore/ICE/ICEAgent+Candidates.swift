/// What the local description says of us.
extension ICEAgent {
    /// A STUN server sees `path` at this address. One that tells nothing new is left out (RFC 8445 5.1.3).
    mutating func addReflexive(path: PathID, address: SocketAddress) {
        guard let base = checklist.base(path), address.isUnicast, reflexive.count < Self.reflexiveLimit,
            !checklist.bases.contains(where: { $0.address.isSame(as: address) }),
            !reflexive.contains(where: { $0.address.isSame(as: address) }), base.address.canPair(with: address)
        else { return }
        reflexive.append((path, address))
    }

    // As many as there may be queries; see `ReflexiveGathering`.
    private static let reflexiveLimit = 16

    /// For the local description: host candidates, what STUN servers said of them, and relayed ones. Connections of ours are not
    /// in it: the far end learns them from our checks.
    var localCandidates: [Candidate] {
        var candidates: [Candidate] = []
        for base in checklist.bases {
            let kind: Candidate.Kind
            switch base.kind {
            case .host: kind = .host
            case .relay, .streamedRelay: kind = .relayed
            case .stream: continue
            }
            candidates.append(
                Candidate(
                    foundation: String(base.foundation), transport: .udp, priority: base.priority,
                    address: base.address, kind: kind, related: kind == .relayed ? base.address : nil))
        }
        for (path, address) in reflexive {
            guard let base = checklist.base(path) else { continue }
            // RFC 8445 5.1.1.3: another kind, so another foundation than any base's.
            candidates.append(
                Candidate(
                    foundation: String(Checklist.baseLimit + base.foundation), transport: .udp,
                    priority: Candidate.priority(.serverReflexive, localPreference: base.localPreference),
                    address: address, kind: .serverReflexive, related: base.address))
        }
        return candidates
    }
}
