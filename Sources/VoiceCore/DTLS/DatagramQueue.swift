/// A bounded first-in, first-out queue of byte strings in one block of memory.
///
/// Owned by a DTLS transport, on the network thread. Nothing is allocated after init; what does not fit is left out and counted,
/// as a network would lose it.
struct DatagramQueue: ~Copyable {
    private let storage: UnsafeMutableRawBufferPointer
    private var head = 0
    private var tail = 0
    private(set) var dropped = 0

    /// Each entry is preceded by its length.
    private static var prefix: Int { MemoryLayout<UInt32>.size }

    init(byteCount: Int) {
        storage = .allocate(byteCount: byteCount, alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    var isEmpty: Bool { head == tail }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let room = reserve(bytes.count) else {
            dropped += 1
            return
        }
        UnsafeMutableRawBufferPointer(rebasing: room[..<bytes.count]).copyMemory(from: bytes)
        commit(bytes.count)
    }

    /// At least `byteCount` bytes at the queue's end, to be filled and then committed before any other call; nil where the queue is
    /// too full.
    mutating func reserve(_ byteCount: Int) -> UnsafeMutableRawBufferPointer? {
        let needed = byteCount + Self.prefix
        if needed > storage.count - tail, head > 0 {
            UnsafeMutableRawBufferPointer(rebasing: storage[..<(tail - head)])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: storage[head..<tail]))
            tail -= head
            head = 0
        }
        guard needed <= storage.count - tail else { return nil }
        return UnsafeMutableRawBufferPointer(rebasing: storage[(tail + Self.prefix)...])
    }

    /// Makes an entry of the first `byteCount` bytes of what `reserve` gave.
    mutating func commit(_ byteCount: Int) {
        precondition(byteCount >= 0 && byteCount <= storage.count - tail - Self.prefix)
        storage.storeBytes(of: UInt32(byteCount), toByteOffset: tail, as: UInt32.self)
        tail += Self.prefix + byteCount
    }

    /// Copies of all entries, which stay.
    var copies: [[UInt8]] {
        var copies: [[UInt8]] = []
        var place = head
        while place < tail {
            let start = place + Self.prefix
            place = start + Int(storage.loadUnaligned(fromByteOffset: place, as: UInt32.self))
            copies.append(Array(storage[start..<place]))
        }
        return copies
    }

    mutating func countDrop() {
        dropped += 1
    }

    /// The oldest entry's byte count, after it was copied into `buffer`; nil where there is none. Entries longer than `buffer` are
    /// left out and counted.
    mutating func next(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        while head < tail {
            let byteCount = Int(storage.loadUnaligned(fromByteOffset: head, as: UInt32.self))
            let start = head + Self.prefix
            head = start + byteCount
            let entry = UnsafeRawBufferPointer(rebasing: storage[start..<head])
            if head == tail {
                head = 0
                tail = 0
            }
            guard byteCount <= buffer.count else {
                dropped += 1
                continue
            }
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<byteCount]).copyMemory(from: entry)
            return byteCount
        }
        return nil
    }
}
