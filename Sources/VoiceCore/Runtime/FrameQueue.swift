import Synchronization

/// A bounded queue of packets or frames between two of our threads: fixed slots, made once, copied into and out of.
///
/// One thread pushes, one pops. The lock (priority-inheriting on Linux) is held for one small copy; nothing allocates.
/// Where the reader is too slow the oldest is dropped and counted, since old sound is worth less than new.
final class FrameQueue<Header: BitwiseCopyable & Sendable>: Sendable {
    private let ring: Mutex<Ring>

    /// - Parameter slotByteCount: the largest payload; a larger one is refused and counted as dropped.
    init(slotCount: Int, slotByteCount: Int, empty: Header) {
        ring = Mutex(Ring(slotCount: slotCount, slotByteCount: slotByteCount, empty: empty))
    }

    func push(_ header: Header, _ payload: UnsafeRawBufferPointer) {
        ring.withLock { $0.push(header, payload) }
    }

    /// Takes the oldest.
    /// - Parameter payload: at least `slotByteCount` bytes; filled from its start.
    /// - Returns: what was pushed with it and the count of payload bytes; nil where the queue is empty.
    func pop(into payload: UnsafeMutableRawBufferPointer) -> (header: Header, byteCount: Int)? {
        ring.withLock { $0.pop(into: payload) }
    }

    /// Forgets all that waits.
    func removeAll() {
        ring.withLock { $0.count = 0 }
    }

    /// How many were dropped since the start: the queue was full, or the payload too large.
    var droppedCount: Int { ring.withLock { $0.droppedCount } }

    // Sendable since it alone owns its memory, cannot be copied, and is reached only under the lock.
    private struct Ring: ~Copyable, @unchecked Sendable {
        private let headers: UnsafeMutableBufferPointer<Header>
        private let byteCounts: UnsafeMutableBufferPointer<Int>
        private let payloads: UnsafeMutableRawBufferPointer
        private let slotByteCount: Int
        private var first = 0
        var count = 0
        var droppedCount = 0

        init(slotCount: Int, slotByteCount: Int, empty: Header) {
            precondition(slotCount > 0 && slotByteCount > 0)
            headers = .allocate(capacity: slotCount)
            headers.initialize(repeating: empty)
            byteCounts = .allocate(capacity: slotCount)
            byteCounts.initialize(repeating: 0)
            // Not zeroed: a slot is read as far as it was written, and a page never used takes no memory.
            payloads = .allocate(byteCount: slotCount * slotByteCount, alignment: 16)
            self.slotByteCount = slotByteCount
        }

        deinit {
            headers.deallocate()
            byteCounts.deallocate()
            payloads.deallocate()
        }

        mutating func push(_ header: Header, _ payload: UnsafeRawBufferPointer) {
            guard payload.count <= slotByteCount else {
                droppedCount += 1
                return
            }
            if count == headers.count {
                first = (first + 1) % headers.count
                count -= 1
                droppedCount += 1
            }
            let slot = (first + count) % headers.count
            headers[slot] = header
            byteCounts[slot] = payload.count
            UnsafeMutableRawBufferPointer(rebasing: payloads[slot * slotByteCount..<(slot + 1) * slotByteCount])
                .copyMemory(from: payload)
            count += 1
        }

        mutating func pop(into payload: UnsafeMutableRawBufferPointer) -> (header: Header, byteCount: Int)? {
            guard count > 0 else { return nil }
            let slot = first
            first = (first + 1) % headers.count
            count -= 1
            let byteCount = min(byteCounts[slot], payload.count)
            payload.copyMemory(
                from: UnsafeRawBufferPointer(
                    rebasing: payloads[slot * slotByteCount..<slot * slotByteCount + byteCount]))
            return (headers[slot], byteCount)
        }
    }
}
