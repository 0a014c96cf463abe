/// Packets that wait to be decoded, put in order by their sequence numbers.
///
/// A Playout owns it. It holds 64 packets of up to 1500 bytes, or as many as it is told; where a packet comes that is further ahead, the oldest make room. It
/// never allocates after its init, and no number from the wire makes it trap.
struct JitterBuffer: ~Copyable {
    enum Insertion: Equatable, Sendable {
        case stored
        /// Stored, and that many older packets had to go unheard.
        case storedDropping(Int)
        /// Stored; it has nothing to do with what came before, which is gone.
        case restarted
        case duplicate
        /// Its turn is over.
        case late
        case tooLarge
    }

    /// A packet that waits, numbered without wraps.
    struct Entry {
        var sequence: Int64
        /// In samples of 48 kHz.
        var timestamp: Int64
        /// When it came, in samples of 48 kHz of our clock.
        var arrival: Int64
        var packet: OpusPacket
    }

    /// A power of two.
    let slotCount: Int
    /// What an Ethernet frame carries; no RTP packet of a voice is larger.
    static let slotByteCount = 1500
    // RFC 3550 A.1: beyond these it is not loss and not reordering, but another sequence.
    private static let maximumDropout = 3000
    private static let maximumMisorder = 100

    /// Not private: Swift 6.0.3 then emits a broken module.
    struct Slot: BitwiseCopyable {
        var sequence: Int64 = -1
        var timestamp: Int64 = 0
        var arrival: Int64 = 0
        var byteCount = 0
    }

    private let slots: FixedBuffer<Slot>
    private let bytes: FixedBuffer<UInt8>
    /// Packets that wait.
    private(set) var count = 0
    /// The next one in the order of play. Every packet that waits is one of the `slotCount` from here on.
    private(set) var nextSequence: Int64 = 0
    private var highest: Int64?
    private var lastTimestamp: Int64 = 0
    /// Which of the 64 numbers before `nextSequence` came, the latest in the lowest bit.
    private var cameBefore: UInt64 = 0

    /// - Parameter slotCount: how many packets it holds, a power of two.
    init(slotCount: Int = 64) {
        precondition(slotCount > 0 && slotCount & (slotCount - 1) == 0)
        self.slotCount = slotCount
        slots = FixedBuffer<Slot>(repeating: Slot(), count: slotCount)
        bytes = FixedBuffer<UInt8>(unwrittenCount: slotCount * Self.slotByteCount)
    }

    /// - Parameter packet: copied.
    mutating func insert(
        _ packet: OpusPacket, sequenceNumber: UInt16, timestamp: UInt32, arrival: Int64
    ) -> (Insertion, Entry) {
        let step = Int(Int16(truncatingIfNeeded: sequenceNumber &- UInt16(truncatingIfNeeded: highest ?? 0)))
        let isRestart = highest == nil || step >= Self.maximumDropout || step <= -Self.maximumMisorder
        let sequence: Int64
        let unwrapped: Int64
        if isRestart {
            // Far above zero, so that what is reordered before it has a number too.
            sequence = 1 << 16 + Int64(sequenceNumber)
            unwrapped = Int64(timestamp)
        } else {
            sequence = (highest ?? 0) &+ Int64(step)
            unwrapped =
                lastTimestamp &+ Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: lastTimestamp)))
        }
        let entry = Entry(sequence: sequence, timestamp: unwrapped, arrival: arrival, packet: packet)
        guard packet.bytes.count <= Self.slotByteCount else { return (.tooLarge, entry) }
        let hadPackets = highest != nil
        if isRestart {
            removeAll()
            nextSequence = sequence
            cameBefore = 0
            highest = sequence
        }
        if sequence < nextSequence {
            let age = nextSequence - sequence - 1
            guard age < 64 else { return (.late, entry) }
            let came = cameBefore >> UInt64(age) & 1 != 0
            cameBefore |= 1 << UInt64(age)
            return (came ? .duplicate : .late, entry)
        }
        if slots[index(of: sequence)].sequence == sequence { return (.duplicate, entry) }
        var dropped = 0
        while sequence - nextSequence >= Int64(slotCount) {
            if count == 0 {
                nextSequence = sequence - Int64(slotCount) + 1
                cameBefore = 0
            } else if skipOne() {
                dropped += 1
            }
        }
        highest = max(highest ?? sequence, sequence)
        lastTimestamp = unwrapped
        store(entry)
        if isRestart { return (hadPackets ? .restarted : .stored, entry) }
        return (dropped > 0 ? .storedDropping(dropped) : .stored, entry)
    }

    /// The packet that waits with the lowest number; its bytes stand until it is removed.
    func first() -> Entry? {
        guard count > 0 else { return nil }
        for sequence in nextSequence..<nextSequence + Int64(slotCount) {
            let slot = slots[index(of: sequence)]
            guard slot.sequence == sequence else { continue }
            let start = index(of: sequence) * Self.slotByteCount
            let stored = UnsafeRawBufferPointer(
                rebasing: UnsafeRawBufferPointer(bytes.elements)[start..<start + slot.byteCount])
            guard let packet = OpusPacket(stored) else { continue }
            return Entry(
                sequence: sequence, timestamp: slot.timestamp, arrival: slot.arrival, packet: packet)
        }
        return nil
    }

    /// Takes that packet out; whatever is older is late from now on.
    mutating func remove(_ entry: Entry) {
        while nextSequence <= entry.sequence { _ = skipOne() }
    }

    /// Forgets what waits; what comes late of it stays late.
    mutating func removeAll() {
        for index in 0..<slotCount { slots[index].sequence = -1 }
        count = 0
        if let highest {
            if nextSequence != highest + 1 { cameBefore = 0 }
            nextSequence = highest + 1
        }
    }

    /// Begins a new sequence with the next packet.
    mutating func forgetSequence() {
        removeAll()
        highest = nil
    }

    /// - Returns: whether a packet was there.
    private mutating func skipOne() -> Bool {
        let index = index(of: nextSequence)
        let isThere = slots[index].sequence == nextSequence
        if isThere {
            slots[index].sequence = -1
            count -= 1
        }
        nextSequence += 1
        cameBefore = cameBefore << 1 | (isThere ? 1 : 0)
        return isThere
    }

    private mutating func store(_ entry: Entry) {
        let index = index(of: entry.sequence)
        let start = index * Self.slotByteCount
        let source = entry.packet.bytes
        for offset in 0..<source.count { bytes.elements[start + offset] = source[offset] }
        slots[index] = Slot(
            sequence: entry.sequence, timestamp: entry.timestamp, arrival: entry.arrival, byteCount: source.count)
        count += 1
    }

    private func index(of sequence: Int64) -> Int {
        Int(sequence & Int64(slotCount - 1))
    }
}
