/// Decoded sound between the unit of decoding (2.5 to 120 ms) and the frame of 10 ms that a sound device takes.
///
/// A Playout owns it. Samples are mono, 48 kHz, Int16. It never allocates after its init.
struct PCMQueue: ~Copyable {
    private let samples: FixedBuffer<Int16>
    private var head = 0
    private(set) var count = 0

    /// - Parameter capacity: in samples.
    init(capacity: Int) {
        samples = FixedBuffer(repeating: 0, count: capacity)
    }

    /// The room behind what is queued, for a decoder to write into; `append` makes what was written part of the queue.
    mutating func room() -> UnsafeMutableBufferPointer<Int16> {
        if head > 0 {
            for index in 0..<count { samples.elements[index] = samples.elements[head + index] }
            head = 0
        }
        return UnsafeMutableBufferPointer(rebasing: samples.elements[count...])
    }

    /// - Parameter sampleCount: how many samples of the `room` were written.
    mutating func append(sampleCount: Int) {
        precondition(sampleCount >= 0 && head + count + sampleCount <= samples.count)
        count += sampleCount
    }

    /// Takes the oldest samples out, as many as the frame holds; they must be there.
    mutating func take(into frame: UnsafeMutableBufferPointer<Int16>) {
        precondition(frame.count <= count)
        for index in 0..<frame.count { frame[index] = samples.elements[head + index] }
        head += frame.count
        count -= frame.count
    }

    mutating func removeAll() {
        head = 0
        count = 0
    }
}
