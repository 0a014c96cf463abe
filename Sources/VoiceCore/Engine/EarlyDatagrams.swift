/// DTLS that came a moment too early: before the answer was known or before ICE had validated its route.
///
/// A full ICE agent opens the handshake as soon as it may, which is often before our own check has come back; thrown away, its
/// ClientHello would come again only after its timer. Few and small are kept, since a stranger can send them too.
struct EarlyDatagrams {
    private static let capacity = 8
    private static let largest = 1_500
    private var kept: [(route: Route, bytes: [UInt8])] = []

    /// - Returns: false where it was not kept.
    mutating func keep(_ datagram: UnsafeRawBufferPointer, from route: Route) -> Bool {
        guard kept.count < Self.capacity, datagram.count <= Self.largest else { return false }
        kept.append((route, Array(datagram)))
        return true
    }

    /// The oldest whose route is good now.
    mutating func next(where isGood: (Route) -> Bool) -> [UInt8]? {
        guard let index = kept.firstIndex(where: { isGood($0.route) }) else { return nil }
        return kept.remove(at: index).bytes
    }
}
