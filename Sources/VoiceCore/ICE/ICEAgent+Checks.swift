/// When checks are sent, repeated and given up (RFC 8445 6.1.4.2, 14).
extension ICEAgent {
    /// Ta, the time between two checks: RFC 8445 14.2 allows 5 ms.
    static let pace: Duration = .milliseconds(5)
    /// The least time to a first repetition. RFC 8445 14.3 suggests 500 ms, for agents whose checks are many; here a peer may only
    /// just be opening its socket, and the person waits. Five sends take 2.3 s, after which a check begins anew.
    static let shortestTimeout: Duration = .milliseconds(100)
    /// Where the round trip is known the repetition follows it, up to this (RFC 8489 6.2.1, RFC 6298).
    static let longestKnownTimeout: Duration = .milliseconds(500)
    /// How long a session may look for a path. No source: the person who pressed the button has left by then.
    static let checkingLimit: Duration = .seconds(30)
    /// How long the side that checks first waits for any sign at all of the other. No source: twenty checks of each pair are lost by then.
    static let silenceLimit: Duration = .seconds(9)
    /// How long a new network is tried within the session. No source: eight checks of each pair; a new voice takes a second or two.
    static let followingLimit: Duration = .seconds(5)
    /// How long the peer's own checks are hoped for when ours have all been refused, or there was nothing to check.
    static let hopeLimit: Duration = .seconds(10)
    /// A lite peer sends no checks; only a local network that comes up now could help.
    static let liteHopeLimit: Duration = .seconds(2)

    private var isSelecting: Bool {
        switch phase {
        case .checking, .nominating: true
        case .waiting, .selected, .ended: false
        }
    }

    /// Starts what the pace allows: triggered checks first, then the waiting pair of the highest priority. Once a pair is selected
    /// only triggered ones are left.
    mutating func startChecks(at now: Instant) {
        guard !isLite else { return }
        while now >= nextCheckAt, let index = nextToCheck() {
            start(index, nominates: false, at: now)
            nextCheckAt = now + Self.pace
        }
    }

    private mutating func nextToCheck() -> Int? {
        while !triggered.isEmpty {
            if let index = checklist.index(triggered.removeFirst()) { return index }
        }
        return isSelecting || isMoving ? bestWaiting : nil
    }

    /// The selected pair has fallen silent: whatever else there is, is tried beside it.
    var isMoving: Bool { isControlling && selectedPair != nil && consent?.isDisconnected == true }

    private var bestWaiting: Int? {
        checklist.best(isControlling: isControlling) { $0.isWaiting }
    }

    private var hasCheckToStart: Bool {
        guard !isLite else { return false }
        if !triggered.isEmpty { return true }
        return (isSelecting || isMoving) && checklist.pairs.contains { $0.isWaiting }
    }

    mutating func start(_ index: Int, nominates: Bool, at now: Instant) {
        checklist.pairs[index].cancel(leaving: .idle)
        let check = ICECheck(
            transaction: STUNTransactionID(from: &entropy), wasControlling: isControlling, nominates: nominates,
            timeout: timeout(index), at: now)
        checklist.pairs[index].state = .inProgress(check)
        statistics.checksSent += 1
        send(request(check, index))
    }

    func request(_ check: ICECheck, _ index: Int) -> BindingTransmit {
        let pair = checklist.pairs[index]
        return .request(check, priority: pair.local.reflexivePriority, to: pair.route)
    }

    /// RFC 8445 14.3: Ta times the number of checks there are, but never too short.
    private func timeout(_ index: Int) -> Duration {
        if let known = checklist.pairs[index].validation?.roundTrip {
            return min(max(known * 3, Self.shortestTimeout), Self.longestKnownTimeout)
        }
        var checks = 0
        for pair in checklist.pairs where pair.isWaiting || pair.check != nil { checks += 1 }
        return max(Self.shortestTimeout, Self.pace * checks)
    }

    mutating func repeatChecks(at now: Instant) {
        for index in checklist.pairs.indices {
            guard var check = checklist.pairs[index].check, now >= check.dueAt else { continue }
            if check.isExhausted {
                expire(index)
            } else if mustNominateToBeHeard(check) {
                start(index, nominates: true, at: now)
            } else {
                check.repeated(at: now)
                checklist.pairs[index].state = .inProgress(check)
                statistics.retransmissionsSent += 1
                send(request(check, index))
            }
        }
    }

    /// Some lite peers answer only checks that nominate: after two without an answer, and with no path yet, all of them do.
    private func mustNominateToBeHeard(_ check: ICECheck) -> Bool {
        remoteIsLite && isControlling && !check.nominates && check.sendCount >= 2 && phase == .checking
            && firstValidAt == nil
    }

    /// A check was never answered. While there is no other path at all it begins anew, since five sends may all be lost; with one
    /// the pair is given up.
    private mutating func expire(_ index: Int) {
        let id = checklist.pairs[index].id
        guard isSelecting, checklist.pairs.allSatisfy({ $0.validation == nil || $0.id == id }) else {
            return giveUp(index)
        }
        checklist.pairs[index].validation = nil
        checklist.pairs[index].cancel(leaving: .waiting)
        resumeChecking()
    }

    /// The pair has failed (RFC 8445 7.2.5.2); a check of the peer's brings it back.
    mutating func giveUp(_ index: Int) {
        let id = checklist.pairs[index].id
        checklist.pairs[index].cancel(leaving: .failed)
        guard phase == .nominating(id) else { return }
        checklist.pairs[index].validation = nil
        resumeChecking()
    }

    /// The pair that was to be nominated is lost: another is looked for.
    mutating func resumeChecking() {
        phase = .checking
        if checklist.pairs.allSatisfy({ $0.validation == nil }) { firstValidAt = nil }
    }

    // MARK: The end of hope

    /// Notes since when there is nothing left to check or to choose from.
    mutating func noteHope(at now: Instant) {
        let isHopeless =
            phase == .checking && triggered.isEmpty && !expectsPaths
            && checklist.pairs.allSatisfy { !$0.isWaiting && $0.check == nil && $0.validation == nil }
        hopelessSince = isHopeless ? hopelessSince ?? now : nil
    }

    private var hopeEnds: Instant? {
        hopelessSince.map { $0 + (remoteIsLite ? Self.liteHopeLimit : Self.hopeLimit) }
    }

    /// When nothing was ever heard of the other side, though it has had our checks for long.
    private var silenceEnds: Instant? {
        isControlling && !hasHeardPeer && consent == nil ? checkingSince + Self.silenceLimit : nil
    }

    /// When a session that lost its path, and has another to try since, has tried for long enough: a new voice is quicker.
    private var followingEnds: Instant? {
        guard consent != nil, phase == .checking, !checklist.pairs.isEmpty, firstValidAt == nil else { return nil }
        return max(checkingSince, lastBaseAt) + Self.followingLimit
    }

    mutating func endIfHopeless(at now: Instant) {
        guard isSelecting else { return }
        if let hopeEnds, now >= hopeEnds {
            fail(checklist.pairs.isEmpty ? .noUsableCandidate : .refused)
        } else if let followingEnds, now >= followingEnds {
            fail(.notFollowed)
        } else if let silenceEnds, now >= silenceEnds {
            fail(checklist.pairs.isEmpty ? .noUsableCandidate : .noAnswer)
        } else if now >= checkingSince + Self.checkingLimit {
            if consent != nil {
                fail(.consentLost)
            } else if checklist.pairs.contains(where: { $0.validation != nil }) {
                fail(.notNominated)
            } else {
                fail(checklist.pairs.isEmpty ? .noUsableCandidate : .noAnswer)
            }
        }
    }

    func earliestDeadline() -> Deadline? {
        var check: Instant?
        for pair in checklist.pairs { check = Instant.earlier(check, pair.check?.dueAt) }
        if hasCheckToStart { check = Instant.earlier(check, nextCheckAt) }
        if isSelecting {
            check = Instant.earlier(check, hopeEnds)
            check = Instant.earlier(check, silenceEnds)
            check = Instant.earlier(check, followingEnds)
            check = Instant.earlier(check, checkingSince + Self.checkingLimit)
        }
        let checks = check.map { Deadline(at: $0, reason: .iceCheck) }
        let nomination = nominationDue.map { Deadline(at: $0, reason: .iceNomination) }
        let asking = consent.map { Deadline(at: $0.deadline, reason: .iceConsent) }
        return Deadline.earliest(checks, Deadline.earliest(nomination, asking))
    }
}

extension CandidatePair {
    var isWaiting: Bool {
        switch state {
        case .waiting: true
        case .inProgress, .idle, .failed: false
        }
    }
}
