/// Which TSNs of the peer's have come: all up to one, and blocks above it (RFC 9260 6.2).
///
/// It says what a SACK says. Bounded: a TSN that would make too many blocks, or lies too far ahead, is not taken.
struct ReceivedTSNs {
    /// All up to this one have come or were given up by the peer.
    private(set) var cumulative: UInt32
    /// First and last of each block above, in ascending order, never touching each other.
    private var blocks: [(first: UInt32, last: UInt32)] = []
    private var duplicates: [UInt32] = []

    /// A SACK of one packet holds no more than 280 anyway.
    private static let blockLimit = 512
    private static let duplicateLimit = 16
    /// Blocks are counted in 16 bits from the cumulative TSN (RFC 9260 3.3.4).
    private static let reach: UInt32 = 65_535

    init(before first: UInt32) {
        cumulative = first &- 1
        duplicates.reserveCapacity(Self.duplicateLimit)
    }

    var hasGaps: Bool { !blocks.isEmpty }
    /// The highest that came.
    var highest: UInt32 { blocks.last?.last ?? cumulative }

    enum Judgement {
        case new
        case duplicate
        case tooFar
    }

    func judge(_ tsn: UInt32) -> Judgement {
        guard cumulative.precedes(tsn) else { return .duplicate }
        guard tsn &- cumulative <= Self.reach else { return .tooFar }
        let index = firstBlock(endingAtOrAfter: tsn)
        if index < blocks.count, !tsn.precedes(blocks[index].first) { return .duplicate }
        // One more block is only made where it touches none.
        let touches =
            index < blocks.count && blocks[index].first == tsn &+ 1 || index > 0 && blocks[index - 1].last == tsn &- 1
        return tsn == cumulative &+ 1 || touches || blocks.count < Self.blockLimit ? .new : .tooFar
    }

    /// Takes a TSN that was judged new.
    mutating func add(_ tsn: UInt32) {
        if tsn == cumulative &+ 1 {
            cumulative = tsn
            absorbBlocks()
            return
        }
        let index = firstBlock(endingAtOrAfter: tsn)
        let touchesNext = index < blocks.count && blocks[index].first == tsn &+ 1
        let touchesPrevious = index > 0 && blocks[index - 1].last == tsn &- 1
        switch (touchesPrevious, touchesNext) {
        case (true, true):
            blocks[index - 1].last = blocks[index].last
            blocks.remove(at: index)
        case (true, false): blocks[index - 1].last = tsn
        case (false, true): blocks[index].first = tsn
        case (false, false): blocks.insert((tsn, tsn), at: index)
        }
    }

    mutating func addDuplicate(_ tsn: UInt32) {
        if duplicates.count < Self.duplicateLimit { duplicates.append(tsn) }
    }

    /// The peer gives up what is missing up to `tsn` (RFC 3758 3.6).
    /// - Returns: false where that is old, or further than it can have sent.
    mutating func forward(to tsn: UInt32) -> Bool {
        guard cumulative.precedes(tsn), tsn &- cumulative <= Self.reach else { return false }
        cumulative = tsn
        blocks.removeAll { !cumulative.precedes($0.last) }
        if let first = blocks.first, first.first == cumulative &+ 1 || !cumulative.precedes(first.first) {
            cumulative = first.last
            blocks.removeFirst()
        }
        return true
    }

    /// The value of a SACK, as many blocks and duplicates as there is room for. The duplicates are forgotten with it.
    mutating func writeSack(to writer: inout ByteWriter, window: UInt32, room: Int) {
        let blockCount = min(blocks.count, max(0, room - 12) / 4)
        let duplicateCount = min(duplicates.count, max(0, room - 12 - 4 * blockCount) / 4)
        writer.uint32(cumulative)
        writer.uint32(window)
        writer.uint16(UInt16(blockCount))
        writer.uint16(UInt16(duplicateCount))
        for index in 0..<blockCount {
            writer.uint16(UInt16(truncatingIfNeeded: blocks[index].first &- cumulative))
            writer.uint16(UInt16(truncatingIfNeeded: blocks[index].last &- cumulative))
        }
        for index in 0..<duplicateCount { writer.uint32(duplicates[index]) }
        duplicates.removeAll(keepingCapacity: true)
    }

    private mutating func absorbBlocks() {
        guard let first = blocks.first, first.first == cumulative &+ 1 else { return }
        cumulative = first.last
        blocks.removeFirst()
    }

    /// Its index, or the count of blocks. Most TSNs belong at the end.
    private func firstBlock(endingAtOrAfter tsn: UInt32) -> Int {
        guard let last = blocks.last, !last.last.precedes(tsn) else { return blocks.count }
        var low = 0
        var high = blocks.count - 1
        while low < high {
            let middle = (low + high) / 2
            if blocks[middle].last.precedes(tsn) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
