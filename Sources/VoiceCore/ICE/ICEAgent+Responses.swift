/// The answers to our checks (RFC 8445 7.2.5).
extension ICEAgent {
    mutating func conclude(_ message: STUNMessage, from route: Route, at now: Instant) {
        guard let (index, check) = checklist.request(message.transaction), let remoteKey else {
            statistics.unknownTransaction += 1
            return
        }
        guard message.isAuthentic(remoteKey) else {
            statistics.notAuthentic += 1
            return
        }
        guard message.unknownAttributes.isEmpty else {  // RFC 8489 6.3.3, 6.3.4
            statistics.unknownAttributes += 1
            return
        }
        guard route == checklist.pairs[index].route else {  // RFC 8445 7.2.5.2.1
            statistics.asymmetricAnswers += 1
            refuse(index, check)
            return
        }
        hasHeardPeer = true
        if message.kind == .success {
            succeed(index, check, mappedAddress: message.mappedAddress, at: now)
        } else if message.errorCode == STUNErrorCode.roleConflict {
            statistics.roleConflicts += 1
            resolveConflict(index, check)
        } else {
            statistics.refusals += 1
            refuse(index, check)
        }
    }

    private mutating func succeed(_ index: Int, _ check: ICECheck, mappedAddress: SocketAddress?, at now: Instant) {
        statistics.answersReceived += 1
        let id = checklist.pairs[index].id
        let isFirst = checklist.pairs[index].validation == nil
        // Of a repeated request nobody knows which copy was answered; from the first on is never too short.
        var roundTrip = now - check.firstSentAt
        if let known = checklist.pairs[index].validation { roundTrip = min(roundTrip, known.roundTrip) }
        checklist.pairs[index].validation = CandidatePair.Validation(
            roundTrip: roundTrip, answeredAt: now, mappedAddress: mappedAddress)
        if isFirst {
            if firstValidAt == nil { firstValidAt = now }
            emit(.validPath(checklist.pairs[index].route))
        }
        stopChecks(index, answered: check)

        if check.nominates, isControlling, phase == .nominating(id) || (remoteIsLite && phase == .checking) {
            select(index, at: now)
        } else if isMoving, index != selectedPair {
            // It answers where the selected one does not: nominated at once, and selected when that is answered.
            if check.nominates { select(index, at: now) } else { start(index, nominates: true, at: now) }
        } else if index == selectedPair {
            if consent?.answered(at: now) == true { emit(.recovered) }
        } else {
            followPeerNomination(at: now)
        }
    }

    /// The pair is answered: what still waits or flies on it has no purpose, but for a nomination.
    private mutating func stopChecks(_ index: Int, answered check: ICECheck) {
        let id = checklist.pairs[index].id
        triggered.removeAll { $0 == id }
        switch checklist.pairs[index].state {
        case .inProgress(let current) where current.nominates && current.transaction != check.transaction:
            break
        case .inProgress, .waiting, .failed, .idle:
            checklist.pairs[index].cancel(leaving: .idle)
        }
    }

    /// 487: the peer keeps its role, so ours changes and the check is sent anew at once (RFC 8445 7.2.5.1).
    private mutating func resolveConflict(_ index: Int, _ check: ICECheck) {
        guard !remoteIsLite else { return refuse(index, check) }
        let isInFlight = checklist.pairs[index].check?.transaction == check.transaction
        if check.wasControlling == isControlling {
            take(role: !check.wasControlling)
        } else if !isInFlight {
            return  // A late copy: the role has changed already, and the check has been sent anew.
        }
        guard checklist.pairs[index].validation == nil else { return }
        checklist.pairs[index].cancel(leaving: .waiting)
        let id = checklist.pairs[index].id
        if !triggered.contains(id) { triggered.append(id) }
    }

    /// The check failed for good. A pair that was answered before is not lost by it, but a nomination is; consent simply ages.
    private mutating func refuse(_ index: Int, _ check: ICECheck) {
        guard checklist.pairs[index].check?.transaction == check.transaction else { return }
        giveUp(index)
    }
}
