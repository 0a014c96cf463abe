/// One STUN message that is to be sent, kept as the few values it is encoded from at the last moment.
enum BindingTransmit: Sendable {
    case request(ICECheck, priority: UInt32, to: Route)
    case success(STUNTransactionID, to: Route)
    case roleConflict(STUNTransactionID, to: Route)
    case unknownAttributes(STUNTransactionID, [UInt16], to: Route)

    var route: Route {
        switch self {
        case .request(_, _, let route), .success(_, let route), .roleConflict(_, let route),
            .unknownAttributes(_, _, let route):
            route
        }
    }
}

/// What waits to be sent: bounded, first in first out, its storage kept.
///
/// Responses leave room for requests, so that a flood of checks from outside never stops our own.
struct BindingTransmitQueue: Sendable {
    // The engine drains it after every input; more than a few only pile up under a flood.
    private static let limit = 64
    private static let responseLimit = 48

    private var waiting: [BindingTransmit] = []
    private var next = 0

    init() {
        waiting.reserveCapacity(Self.limit)
    }

    var isEmpty: Bool { next == waiting.count }

    /// - Returns: false where the queue is full and the message was left out.
    mutating func append(_ transmit: BindingTransmit) -> Bool {
        let limit =
            switch transmit {
            case .request: Self.limit
            case .success, .roleConflict, .unknownAttributes: Self.responseLimit
            }
        guard waiting.count < limit else { return false }
        waiting.append(transmit)
        return true
    }

    mutating func removeFirst() -> BindingTransmit? {
        guard next < waiting.count else { return nil }
        let transmit = waiting[next]
        next += 1
        if next == waiting.count { removeAll() }
        return transmit
    }

    mutating func removeAll() {
        waiting.removeAll(keepingCapacity: true)
        next = 0
    }
}
