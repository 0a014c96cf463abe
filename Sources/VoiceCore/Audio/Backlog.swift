/// Sound between the microphone's frames and the encoder's packets; holds up to 10 s.
///
/// The capture thread owns it. It passes through for now: whoever pushes takes out at once. It never allocates after its init; its
/// memory is touched only as far as it was ever filled.
struct Backlog: ~Copyable {
    /// 10 s.
    static let capacity = 10 * AudioFormat.samplesPerSecond

    private let samples: FixedBuffer<Int16>
    private var head = 0
    private(set) var sampleCount = 0
    /// What was pushed out by newer sound because nobody took it.
    private(set) var droppedSampleCount = 0

    init() {
        samples = FixedBuffer(unwrittenCount: Self.capacity)
    }

    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16.
    mutating func push(_ frame: UnsafeBufferPointer<Int16>) {
        precondition(frame.count == AudioFormat.frameSampleCount)
        if sampleCount == 0 { head = 0 }
        let excess = sampleCount + frame.count - Self.capacity
        if excess > 0 {
            head = (head + excess) % Self.capacity
            sampleCount -= excess
            droppedSampleCount += excess
        }
        for index in frame.indices {
            samples.elements[(head + sampleCount + index) % Self.capacity] = frame[index]
        }
        sampleCount += frame.count
    }

    /// The oldest sound, as the encoder takes it.
    /// - Parameter pcm: 960 samples, mono, 48 kHz, Int16, filled where true is returned.
    /// - Returns: false where less than that is there.
    mutating func next(into pcm: UnsafeMutableBufferPointer<Int16>) -> Bool {
        precondition(pcm.count == AudioFormat.packetSampleCount)
        guard sampleCount >= pcm.count else { return false }
        for index in pcm.indices {
            pcm[index] = samples.elements[(head + index) % Self.capacity]
        }
        head = (head + pcm.count) % Self.capacity
        sampleCount -= pcm.count
        return true
    }

    /// Forgets everything, as muting demands.
    mutating func removeAll() {
        sampleCount = 0
    }
}
