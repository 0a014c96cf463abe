/// Decoded sound between the unit of decoding (2.5 to 120 ms) and the frame of 10 ms that a sound device takes.
///
/// A Playout owns it. Samples are mono, 48 kHz, Int16. What was taken last stays for a while before the queue, for those that
/// compare with it. It never allocates after its init.
struct PCMQueue: ~Copyable {
    /// What is kept of what was taken: 30 ms.
    static let historyCount = 1440

    private let samples: FixedBuffer<Int16>
    private var head = historyCount
    private(set) var count = 0

    /// - Parameter capacity: in samples, beside those that were taken.
    init(capacity: Int) {
        samples = FixedBuffer(repeating: 0, count: Self.historyCount + capacity)
    }

    /// The room behind what is queued, for a decoder to write into; `append` makes what was written part of the queue.
    mutating func room() -> UnsafeMutableBufferPointer<Int16> {
        if head > Self.historyCount, let start = samples.elements.baseAddress {
            start.update(from: start + (head - Self.historyCount), count: Self.historyCount + count)
            head = Self.historyCount
        }
        return UnsafeMutableBufferPointer(rebasing: samples.elements[(head + count)...])
    }

    /// - Parameter sampleCount: how many samples of the `room` were written.
    mutating func append(sampleCount: Int) {
        precondition(sampleCount >= 0 && head + count + sampleCount <= samples.count)
        count += sampleCount
    }

    /// Takes the oldest samples out, as many as the frame holds; they must be there.
    mutating func take(into frame: UnsafeMutableBufferPointer<Int16>) {
        precondition(frame.count <= count)
        guard let target = frame.baseAddress, let start = samples.elements.baseAddress else { return }
        target.update(from: start + head, count: frame.count)
        head += frame.count
        count -= frame.count
    }

    /// Takes a few samples more or less than the frame holds, and fills it with them: another pitch by so little that nobody hears it.
    /// - Parameter sampleCount: what is taken; it must be there.
    mutating func take(_ sampleCount: Int, into frame: UnsafeMutableBufferPointer<Int16>) {
        precondition(sampleCount > 0 && sampleCount <= count && !frame.isEmpty)
        guard sampleCount != frame.count else { return take(into: frame) }
        let (first, last) = (head - 1, head + count - 1)
        let step = Float(sampleCount) / Float(frame.count)
        for index in 0..<frame.count {
            let place = Float(index) * step
            let whole = Int(place)
            let t = place - Float(whole)
            let at = head + whole
            let a = Float(samples.elements[max(first, at - 1)])
            let b = Float(samples.elements[min(last, at)])
            let c = Float(samples.elements[min(last, at + 1)])
            let d = Float(samples.elements[min(last, at + 2)])
            // A cubic through b and c with the slopes of their neighbours (Catmull-Rom).
            let cubic = 3 * (b - c) + d - a
            let square = 2 * a - 5 * b + 4 * c - d
            let value = b + 0.5 * t * (c - a + t * (square + t * cubic))
            frame[index] = Int16(max(-32_768, min(32_767, value.rounded())))
        }
        head += sampleCount
        count -= sampleCount
    }

    /// Makes the queue shorter or longer without a seam that is heard.
    /// - Parameters:
    ///   - change: how many samples longer (above 0) or shorter (below 0) it may become at most.
    ///   - likeness: how like each other the sounds must be that are laid over each other, 0 to 1.
    /// - Returns: how much longer it became.
    mutating func stretch(by change: Int, likeness: Float, with stretch: borrowing TimeStretch) -> Int {
        _ = room()
        let made = stretch.apply(to: samples.elements, from: head, count: count, change: change, likeness: likeness)
        count += made
        return made
    }

    mutating func removeAll() {
        head += count
        count = 0
    }
}
