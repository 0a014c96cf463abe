/// The peer's checks (RFC 8445 7.3): answered, and followed up by checks of our own.
extension ICEAgent {
    // A peer has as many candidates as it has addresses; more early checks than this are a flood.
    private static let earlyCheckLimit = 16

    mutating func answer(_ message: STUNMessage, from route: Route, at now: Instant) {
        guard isOurs(message.username) else {
            statistics.unknownUsername += 1
            return
        }
        guard message.isAuthentic(localKey) else {
            statistics.notAuthentic += 1
            return
        }
        statistics.requestsReceived += 1
        hasHeardPeer = true
        guard message.unknownAttributes.isEmpty else {  // RFC 8489 6.3.1
            statistics.unknownAttributes += 1
            send(.unknownAttributes(message.transaction, message.unknownAttributes, to: route))
            return
        }
        guard agreesOnRoles(with: message) else {
            send(.roleConflict(message.transaction, to: route))
            return
        }
        send(.success(message.transaction, to: route))
        if !message.usesCandidate, !isControlling { peerNominatesRegularly = true }

        // PRIORITY is required (RFC 8445 7.1.1); a peer that leaves it out still has a path worth trying.
        let priority = message.priority ?? 0
        if remoteKey == nil {
            let fragment = claimedFragment(message.username)
            remember(
                EarlyCheck(
                    route: route, priority: priority, nominates: message.usesCandidate, fragment: fragment))
        } else {
            followUp(route, priority: priority, nominates: message.usesCandidate, at: now)
        }
    }

    /// Settles who is controlling where both claim the same (RFC 8445 7.3.1.1).
    /// - Returns: false where the peer has to change its role.
    private mutating func agreesOnRoles(with message: STUNMessage) -> Bool {
        switch message.role {
        case .controlling(let other) where isControlling:
            statistics.roleConflicts += 1
            guard tieBreaker < other, !remoteIsLite else { return false }
            take(role: false)
        case .controlled(let other) where !isControlling:
            statistics.roleConflicts += 1
            guard tieBreaker >= other, !isLite else { return false }
            take(role: true)
        case .controlling, .controlled, nil:
            break
        }
        return true
    }

    private mutating func remember(_ check: EarlyCheck) {
        if let index = earlyChecks.firstIndex(where: { $0.route == check.route && $0.fragment == check.fragment }) {
            earlyChecks[index].nominates = earlyChecks[index].nominates || check.nominates
        } else if earlyChecks.count < Self.earlyCheckLimit {
            earlyChecks.append(check)
        } else {
            statistics.overLimit += 1
        }
    }

    /// The remote description is there: whoever sent checks under its fragment is followed up as if they came now.
    mutating func followEarlyChecks(from credentials: ICECredentials, at now: Instant) {
        let checks = earlyChecks
        earlyChecks.removeAll()
        for check in checks where check.fragment.elementsEqual(credentials.fragment.utf8) {
            followUp(check.route, priority: check.priority, nominates: check.nominates, at: now)
        }
    }

    /// RFC 8445 7.3.1.3 to 7.3.1.5.
    private mutating func followUp(_ route: Route, priority: UInt32, nominates: Bool, at now: Instant) {
        guard let index = checklist.pairForCheck(on: route, priority: priority) else {
            statistics.overLimit += 1
            return
        }
        checklist.pairs[index].wasHeard = true
        if isLite { hear(index, at: now) }
        if nominates, !isControlling {
            lastPeerNomination &+= 1
            checklist.pairs[index].peerNomination = lastPeerNomination
        }
        if !isLite { trigger(index) }
        followPeerNomination(at: now)
    }

    /// A lite agent takes an authentic check as proof of the path (RFC 8445 7.3.2), and as the peer's sign of life.
    private mutating func hear(_ index: Int, at now: Instant) {
        if checklist.pairs[index].validation == nil {
            emit(.validPath(checklist.pairs[index].route))
            checklist.pairs[index].state = .idle
        }
        checklist.pairs[index].validation = CandidatePair.Validation(roundTrip: .zero, answeredAt: now)
        if index == selectedPair { _ = consent?.answered(at: now) }
    }

    /// A check of our own on the pair, before the others (RFC 8445 7.3.1.4).
    private mutating func trigger(_ index: Int) {
        switch checklist.pairs[index].state {
        case .idle where checklist.pairs[index].validation != nil:
            return
        case .inProgress(let check) where check.nominates:
            return
        case .inProgress, .idle, .failed, .waiting:
            checklist.pairs[index].cancel(leaving: .waiting)
        }
        let id = checklist.pairs[index].id
        if !triggered.contains(id) { triggered.append(id) }
    }
}
