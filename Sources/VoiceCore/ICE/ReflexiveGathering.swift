/// Asks STUN servers how each UDP path looks from outside (RFC 8445 5.1.1.2, RFC 8489 2).
///
/// Owned by the engine's `Reach`, for the moment before the description is written: a candidate that is found later tells the
/// other side nothing that our checks do not. It sends plain Binding requests and takes an answer only from where it asked.
struct ReflexiveGathering: Sendable {
    private struct Query: Sendable {
        var route: Route
        var transaction: STUNTransactionID
        var retransmission: STUNRetransmission
    }

    // Each path with each server of its family; more add nothing but waiting.
    private static let queryLimit = 16

    private var queries: [Query] = []
    private var due: [Route] = []
    private(set) var hasAnswer = false

    /// Whether an answer is still waited for.
    var isWaiting: Bool { !queries.isEmpty }

    var deadline: Instant? {
        var earliest: Instant?
        for query in queries { earliest = .earlier(earliest, query.retransmission.deadline) }
        return earliest
    }

    mutating func ask(on route: Route, entropy: inout Entropy, at now: Instant) {
        guard queries.count < Self.queryLimit, !queries.contains(where: { $0.route == route }) else { return }
        queries.append(
            Query(
                route: route, transaction: STUNTransactionID(from: &entropy),
                retransmission: STUNRetransmission(isReliable: false, at: now)))
        due.append(route)
    }

    /// - Returns: how the path looks from outside, where this is the answer to a question; nil for anything else.
    mutating func receive(_ message: STUNMessage, from route: Route) -> SocketAddress? {
        guard let index = queries.firstIndex(where: { $0.route == route && $0.transaction == message.transaction })
        else { return nil }
        switch message.kind {
        case .success:
            queries.remove(at: index)
            hasAnswer = true
            return message.mappedAddress
        case .error:
            queries.remove(at: index)
            return nil
        case .request, .indication:
            return nil
        }
    }

    mutating func handleTimeout(at now: Instant) {
        queries.removeAll { query in
            var query = query
            if case .giveUp = query.retransmission.handleTimeout(at: now) { return true }
            return false
        }
        for index in queries.indices {
            if case .send = queries[index].retransmission.handleTimeout(at: now) { due.append(queries[index].route) }
        }
    }

    mutating func remove(_ path: PathID) {
        queries.removeAll { $0.route.path == path }
    }

    /// Nothing is asked or waited for any more.
    mutating func stop() {
        queries.removeAll()
        due.removeAll()
    }

    /// Encodes the next question into `buffer`; call until nil.
    mutating func nextTransmit(into buffer: UnsafeMutableRawBufferPointer) -> (byteCount: Int, route: Route)? {
        while let route = due.popLast() {
            guard let query = queries.first(where: { $0.route == route }) else { continue }
            var writer = STUNWriter(buffer, kind: .request, transaction: query.transaction)
            if let byteCount = writer.finish(key: nil) { return (byteCount, route) }
        }
        return nil
    }
}
