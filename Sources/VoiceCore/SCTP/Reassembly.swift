/// A whole message, as the association gives it up and takes it.
struct SCTPMessage: Equatable, Sendable {
    var stream: UInt16
    var protocolID: UInt32
    var isUnordered = false
    var bytes: [UInt8]
}

/// Makes messages of DATA chunks, and holds those that must wait for their turn (RFC 9260 6.6 and 6.9).
///
/// Fragments that follow each other lie in one array from the start, so that a long message is put together while it comes. What is
/// held is bounded by `capacity`, with what each piece costs beside its bytes counted in.
struct Reassembly {
    private struct Run {
        var first: UInt32
        var last: UInt32
        var begins: Bool
        var ends: Bool
        var stream: UInt16
        var sequence: UInt16
        var protocolID: UInt32
        var isUnordered: Bool
        var bytes: [UInt8]

        /// Whether `next` goes on where this ends.
        func isContinued(by next: Run) -> Bool {
            !ends && !next.begins && next.first == last &+ 1 && next.stream == stream
                && next.isUnordered == isUnordered && (isUnordered || next.sequence == sequence)
        }
    }

    private struct Stream {
        var nextSequence: UInt16 = 0
        /// Whole messages by their number, which came before one in front of them.
        var waiting: [UInt16: SCTPMessage] = [:]
    }

    /// Messages of which a part is missing, by their TSNs.
    private var runs: [Run] = []
    private var streams: [UInt16: Stream] = [:]
    private var whole = FIFO<SCTPMessage>()
    private(set) var heldByteCount = 0
    private let capacity: Int
    private let largestMessage: Int

    /// What a piece costs beside its bytes: array header, run and dictionary entry.
    private static let overhead = 96

    enum Judgement {
        case taken
        /// There is no room; it is as if it had not come.
        case noRoom
        /// Nothing that follows the protocol leads here; the association is to end.
        case violation
    }

    /// - Parameters:
    ///   - capacity: what is held at most; for a moment `largestMessage` more, where the missing piece is taken in spite of it.
    init(capacity: Int, largestMessage: Int) {
        self.capacity = capacity
        self.largestMessage = largestMessage
    }

    /// What the peer may still send: its a_rwnd.
    var room: Int { max(0, capacity - heldByteCount) }

    /// - Parameter isNext: it is the first that was missing. It is taken where there is no room as well, since it sets others free.
    mutating func add(_ chunk: SCTPDataChunk, isNext: Bool) -> Judgement {
        let cost = chunk.payload.count + Self.overhead
        if heldByteCount + cost > capacity {
            guard isNext else { return .noRoom }
            guard heldByteCount + cost <= capacity + largestMessage else { return .violation }
        }
        if chunk.begins, chunk.ends {
            guard chunk.payload.count <= largestMessage else { return .violation }
            finish(
                SCTPMessage(
                    stream: chunk.stream, protocolID: chunk.protocolID, isUnordered: chunk.isUnordered,
                    bytes: Array(chunk.payload)), sequence: chunk.sequence)
            return .taken
        }
        return addFragment(chunk)
    }

    mutating func nextMessage() -> SCTPMessage? { whole.removeFirst() }

    /// The peer gives up: messages begun up to `tsn` are not waited for (RFC 3758 3.6).
    mutating func forget(upTo tsn: UInt32) {
        runs.removeAll { run in
            guard !tsn.precedes(run.first) else { return false }
            heldByteCount -= run.bytes.count + Self.overhead
            return true
        }
    }

    /// Ordered messages of `stream` up to `sequence` are not waited for (RFC 3758 3.6).
    mutating func skip(stream: UInt16, upTo sequence: UInt16) {
        guard !sequence.precedes(streams[stream, default: Stream()].nextSequence) else { return }
        // Up to 2^15 numbers are skipped at a time; only what waits is looked at.
        let waiting = streams[stream]?.waiting.keys.filter { !sequence.precedes($0) } ?? []
        for number in waiting.sorted(by: { $0.precedes($1) }) { release(number, of: stream) }
        streams[stream, default: Stream()].nextSequence = sequence &+ 1
        releaseFollowing(in: stream)
    }

    /// The peer starts these streams, or where there are none all, from 0 (RFC 6525 5.2.2).
    mutating func reset(_ numbers: [UInt16]) {
        for number in numbers.isEmpty ? Array(streams.keys) : numbers {
            for message in streams[number]?.waiting.values ?? [:].values {
                heldByteCount -= message.bytes.count + Self.overhead
            }
            streams[number] = nil
        }
    }

    private mutating func addFragment(_ chunk: SCTPDataChunk) -> Judgement {
        let index = firstRun(after: chunk.tsn)
        var run = Run(
            first: chunk.tsn, last: chunk.tsn, begins: chunk.begins, ends: chunk.ends, stream: chunk.stream,
            sequence: chunk.sequence, protocolID: chunk.protocolID, isUnordered: chunk.isUnordered, bytes: [])
        var place = index
        if index > 0, runs[index - 1].isContinued(by: run) {
            place = index - 1
            runs[place].bytes.append(contentsOf: chunk.payload)
            runs[place].last = chunk.tsn
            runs[place].ends = chunk.ends
            heldByteCount += chunk.payload.count
        } else {
            run.bytes.append(contentsOf: chunk.payload)
            runs.insert(run, at: index)
            heldByteCount += chunk.payload.count + Self.overhead
        }
        if place + 1 < runs.count, runs[place].isContinued(by: runs[place + 1]) {
            let next = runs.remove(at: place + 1)
            runs[place].bytes.append(contentsOf: next.bytes)
            runs[place].last = next.last
            runs[place].ends = next.ends
            heldByteCount -= Self.overhead
        }
        guard runs[place].bytes.count <= largestMessage else { return .violation }
        if runs[place].begins, runs[place].ends {
            let done = runs.remove(at: place)
            heldByteCount -= done.bytes.count + Self.overhead
            finish(
                SCTPMessage(
                    stream: done.stream, protocolID: done.protocolID, isUnordered: done.isUnordered, bytes: done.bytes),
                sequence: done.sequence)
        }
        return .taken
    }

    /// A message is whole: it goes out, or waits for those before it.
    private mutating func finish(_ message: SCTPMessage, sequence: UInt16) {
        guard !message.isUnordered else {
            whole.append(message)
            return
        }
        let next = streams[message.stream, default: Stream()].nextSequence
        if sequence == next {
            whole.append(message)
            streams[message.stream, default: Stream()].nextSequence = next &+ 1
            releaseFollowing(in: message.stream)
        } else if next.precedes(sequence), streams[message.stream]?.waiting[sequence] == nil {
            heldByteCount += message.bytes.count + Self.overhead
            streams[message.stream, default: Stream()].waiting[sequence] = message
        }
    }

    private mutating func releaseFollowing(in stream: UInt16) {
        while let next = streams[stream]?.nextSequence, streams[stream]?.waiting[next] != nil {
            release(next, of: stream)
            streams[stream]?.nextSequence = next &+ 1
        }
    }

    private mutating func release(_ sequence: UInt16, of stream: UInt16) {
        guard let message = streams[stream]?.waiting.removeValue(forKey: sequence) else { return }
        heldByteCount -= message.bytes.count + Self.overhead
        whole.append(message)
    }

    /// Where a run that begins with `tsn` belongs. Most belong at the end.
    private func firstRun(after tsn: UInt32) -> Int {
        guard let last = runs.last, tsn.precedes(last.first) else { return runs.count }
        var low = 0
        var high = runs.count - 1
        while low < high {
            let middle = (low + high) / 2
            if tsn.precedes(runs[middle].first) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
