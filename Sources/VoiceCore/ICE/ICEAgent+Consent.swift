/// Consent on the selected pair (RFC 7675), and what happens when the pair is gone.
extension ICEAgent {
    mutating func watchConsent(at now: Instant) {
        while true {
            switch consent?.handleTimeout(entropy: &entropy, at: now) {
            case .nothing, nil: return
            case .check: sendConsentCheck(at: now)
            case .repetition: repeatConsentCheck()
            case .disconnected: emit(.disconnected)
            case .expired: return fail(.consentLost)
            }
        }
    }

    /// A fresh transaction each time (RFC 7675 5.1). The controlling side keeps USE-CANDIDATE on it, for lite peers that have lost
    /// their memory of the nomination.
    private mutating func sendConsentCheck(at now: Instant) {
        guard let index = selectedPair else { return }
        let check = ICECheck(
            transaction: STUNTransactionID(from: &entropy), wasControlling: isControlling, nominates: isControlling,
            timeout: Self.shortestTimeout, at: now)
        checklist.pairs[index].keep(check)
        consentCheck = check
        statistics.consentChecksSent += 1
        send(request(check, index))
    }

    private mutating func repeatConsentCheck() {
        guard let index = selectedPair, let check = consentCheck else { return }
        statistics.retransmissionsSent += 1
        send(request(check, index))
    }

    /// After a path went: where its pair was in use, the next valid one takes its place; with none, the search begins anew.
    mutating func replaceLostPair(at now: Instant) {
        switch phase {
        case .waiting, .checking, .ended:
            return
        case .nominating(let id):
            if checklist.index(id) == nil { resumeChecking() }
            return
        case .selected(let id):
            guard checklist.index(id) == nil else { return }
        }
        // Consent to the others holds for as long as to the one that was lost.
        let next = checklist.best(isControlling: isControlling) { pair in
            pair.validation.map { now < $0.answeredAt + ConsentFreshness.expiry } ?? false
        }
        if let next {
            select(next, at: now)
            watchConsent(at: now)
        } else {
            beginAnew(at: now)
        }
    }

    private mutating func beginAnew(at now: Instant) {
        phase = .checking
        checkingSince = now
        firstValidAt = nil
        for index in checklist.pairs.indices {
            checklist.pairs[index].validation = nil
            checklist.pairs[index].peerNomination = nil
            checklist.pairs[index].cancel(leaving: .waiting)
        }
        if consent?.noteLoss() == true { emit(.disconnected) }
    }
}
