/// Messages that wait to be sent, in the order they were given, and their cutting into chunks (RFC 9260 6.9).
///
/// The chunks of one message have numbers in a row, so one message after the other is sent, whatever its stream.
struct SendQueue {
    private struct Entry {
        var message: SCTPMessage
        var sequence: UInt16
        var sentByteCount = 0
    }

    private var entries = FIFO<Entry>()
    private var nextSequences: [UInt16: UInt16] = [:]
    private(set) var byteCount = 0

    /// What one queued message costs beside its bytes, so that empty ones are bounded too.
    static let overhead = 64

    var isEmpty: Bool { entries.isEmpty }

    mutating func append(_ message: SCTPMessage) {
        byteCount += message.bytes.count + Self.overhead
        entries.append(Entry(message: message, sequence: message.isUnordered ? 0 : takeSequence(message.stream)))
    }

    private mutating func takeSequence(_ stream: UInt16) -> UInt16 {
        defer { nextSequences[stream, default: 0] &+= 1 }
        return nextSequences[stream, default: 0]
    }

    /// How many bytes of the first message are left; nil where there is none.
    var nextByteCount: Int? { entries.first.map { $0.message.bytes.count - $0.sentByteCount } }

    /// The next chunk, with at most `limit` bytes.
    mutating func nextChunk(limit: Int, tsn: UInt32, packet: UInt64) -> OutstandingChunk? {
        guard let entry = entries.first, limit > 0 else { return nil }
        let start = entry.sentByteCount
        let end = min(entry.message.bytes.count, start + limit)
        let ends = end == entry.message.bytes.count
        if ends {
            _ = entries.removeFirst()
            byteCount -= entry.message.bytes.count + Self.overhead
        } else {
            entries[0].sentByteCount = end
        }
        return OutstandingChunk(
            tsn: tsn, stream: entry.message.stream, sequence: entry.sequence, protocolID: entry.message.protocolID,
            isUnordered: entry.message.isUnordered, begins: start == 0, ends: ends, message: entry.message.bytes,
            range: start..<end, packet: packet)
    }

    func holds(_ stream: UInt16) -> Bool {
        entries.indices.contains { entries[$0].message.stream == stream }
    }

    /// These streams start from 0 again (RFC 6525 5.1.2).
    mutating func reset(_ streams: [UInt16]) {
        for stream in streams { nextSequences[stream] = nil }
    }

    mutating func removeAll() {
        entries.removeAll()
        nextSequences = [:]
        byteCount = 0
    }
}
