/// Room for one message to be written in; of a class, so that the values around it stay copyable.
final class Scratch {
    // The largest datagram that comes from a stream, and more than the engine sends with a relay's header around it.
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_352, alignment: 16)

    deinit {
        bytes.deallocate()
    }
}

/// What waits to be sent on sockets: in order, its storage kept.
struct Outbox {
    private var bytes: [UInt8] = []
    private var entries: [(range: Range<Int>, route: Route)] = []
    private var taken = 0

    mutating func append(_ buffer: UnsafeMutableRawBufferPointer, _ byteCount: Int, to route: Route) {
        let start = bytes.count
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<byteCount]))
        entries.append((start..<bytes.count, route))
    }

    /// The oldest message, whose bytes `withBytes` lends; call until nil.
    mutating func next() -> (Range<Int>, Route)? {
        guard taken < entries.count else {
            bytes.removeAll(keepingCapacity: true)
            entries.removeAll(keepingCapacity: true)
            taken = 0
            return nil
        }
        defer { taken += 1 }
        return (entries[taken].range, entries[taken].route)
    }

    func withBytes(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
        bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
