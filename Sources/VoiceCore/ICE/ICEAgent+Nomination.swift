/// Which pair both sides use (RFC 8445 8.1.1).
///
/// Controlling, we nominate one pair, once: of the best kind of path there is (direct before relayed before a stream) that of the
/// shortest round trip, because the hosts of a provider may stand in several regions with one priority. Controlled, we follow the
/// peer.
extension ICEAgent {
    // Round trips this close are equal, and the pair's priority decides. No source: below what jitter moves and a listener hears.
    private static let equalRoundTrips: Duration = .milliseconds(10)
    private static let equalShare = 5  // a fifth
    /// How long after the first answer a better one is waited for. No source: the pace starts 100 pairs in this time.
    private static let nominationLimit: Duration = .milliseconds(500)

    // MARK: Controlling

    /// Nominates the best valid pair as soon as no check that is in flight or waiting could still turn out better.
    mutating func considerNomination(at now: Instant) {
        nominationDue = nil
        guard isControlling, phase == .checking, let firstValidAt, let index = bestValid() else { return }
        let limit = firstValidAt + Self.nominationLimit
        if now < limit, let due = whenNothingBeats(index, at: now) {
            nominationDue = min(due, limit)
        } else {
            phase = .nominating(checklist.pairs[index].id)
            // Not paced: it follows an answer, and the one connection waits for it.
            start(index, nominates: true, at: now)
        }
    }

    /// Of the valid pairs of the best rank with about the shortest round trip, that of the highest priority.
    private func bestValid() -> Int? {
        guard let rank = checklist.pairs.lazy.filter({ $0.validation != nil }).map(\.local.rank).min(),
            let shortest = shortestRoundTrip(rank: rank)
        else { return nil }
        let limit = shortest + Self.tolerance(shortest)
        return checklist.best(isControlling: isControlling) { pair in
            pair.local.rank == rank && pair.validation.map { $0.roundTrip <= limit } ?? false
        }
    }

    private func shortestRoundTrip(rank: Int) -> Duration? {
        checklist.pairs.lazy.filter { $0.local.rank == rank }.compactMap { $0.validation?.roundTrip }.min()
    }

    /// - Returns: when no unanswered pair can beat the pair at `index` any more, as far as is known now; nil where none can already.
    private func whenNothingBeats(_ index: Int, at now: Instant) -> Instant? {
        guard let own = checklist.pairs[index].validation?.roundTrip else { return nil }
        let rank = checklist.pairs[index].local.rank
        let shortest = shortestRoundTrip(rank: rank) ?? own
        let priority = checklist.pairs[index].priority(isControlling: isControlling)
        var latest: Instant?
        for pair in checklist.pairs where pair.validation == nil && pair.local.rank <= rank {
            // A pair of higher priority wins by being as fast, another only by being faster. One of a better rank wins by being
            // there at all: it has had its chance when a check and a repetition of it could have come back.
            let isPreferred = pair.priority(isControlling: isControlling) > priority
            let isBetter = pair.local.rank < rank
            let limit =
                isBetter
                ? own + own + Self.shortestTimeout
                : isPreferred ? shortest + Self.tolerance(shortest) : Self.fasterThan(own)
            let due: Instant
            switch pair.state {
            case .waiting: due = nextCheckAt + limit
            case .inProgress(let check): due = check.firstSentAt + limit
            case .idle, .failed: continue
            }
            guard limit > .zero, due > now else { continue }
            latest = max(latest ?? due, due)
        }
        return latest
    }

    private static func tolerance(_ roundTrip: Duration) -> Duration {
        max(equalRoundTrips, roundTrip / equalShare)
    }

    /// The longest round trip beside which this one no longer counts as equal; zero or less where there is none.
    private static func fasterThan(_ roundTrip: Duration) -> Duration {
        min(roundTrip - equalRoundTrips, roundTrip * equalShare / (equalShare + 1))
    }

    // MARK: Controlled

    /// Selects what the peer has nominated, once our own check on it was answered. A peer that has only ever sent checks with
    /// USE-CANDIDATE nominates all its pairs (RFC 5245 8.1.1.2), and means the best of them; any other means the last.
    mutating func followPeerNomination(at now: Instant) {
        guard !isControlling else { return }
        let index = peerNominatesRegularly ? lastNominatedByPeer : bestNominatedByPeer
        if let index, index != selectedPair { select(index, at: now) }
    }

    private var bestNominatedByPeer: Int? {
        checklist.best(isControlling: isControlling) { $0.peerNomination != nil && $0.validation != nil }
    }

    private var lastNominatedByPeer: Int? {
        var last: (index: Int, nomination: UInt64)?
        for index in checklist.pairs.indices where checklist.pairs[index].validation != nil {
            guard let nomination = checklist.pairs[index].peerNomination else { continue }
            if nomination > last?.nomination ?? 0 { last = (index, nomination) }
        }
        return last?.index
    }

    // MARK: Both

    /// The pair is chosen. Checks on others stop; a check of the peer's starts them again (RFC 8445 8.1.2).
    mutating func select(_ index: Int, at now: Instant) {
        let pair = checklist.pairs[index]
        phase = .selected(pair.id)
        nominationDue = nil
        for index in checklist.pairs.indices where checklist.pairs[index].id != pair.id {
            guard checklist.pairs[index].check != nil, checklist.pairs[index].peerNomination == nil else { continue }
            checklist.pairs[index].cancel(leaving: checklist.pairs[index].validation == nil ? .waiting : .idle)
        }
        emit(.selected(pair.route))
        let answeredAt = pair.validation?.answeredAt ?? now
        if consent == nil {
            consent = ConsentFreshness(lastAnswer: answeredAt, asks: !isLite, entropy: &entropy, at: now)
        } else {
            consent?.move(lastAnswer: answeredAt, at: now)
            if answeredAt == now, consent?.answered(at: now) == true { emit(.recovered) }
        }
    }
}
