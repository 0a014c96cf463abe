/// Sound between the microphone's frames and the encoder's packets: what was said before the voice was connected, up to 10 s.
///
/// The capture thread owns it. Until the voice is live it keeps what the open gate lets through, and nothing of the time in which
/// the gate is shut. Then whoever takes one packet at each frame sends what was kept at twice the speed of time, never as one
/// burst, until it passes through. Left out for now: catching up sooner by leaving out pauses between words. It never allocates after its init;
/// its memory is touched only as far as it was ever filled.
struct Backlog: ~Copyable {
    /// 10 s.
    static let capacity = 10 * AudioFormat.samplesPerSecond
    /// 40 ms: what is kept before the first sound, for a word that begins softly.
    static let leadSampleCount = 4 * AudioFormat.frameSampleCount

    private let samples: FixedBuffer<Int16>
    private var head = 0
    private(set) var sampleCount = 0
    /// What was pushed out by newer sound because nobody took it.
    private(set) var droppedSampleCount = 0
    private var wasLive = false

    init() {
        samples = FixedBuffer(unwrittenCount: Self.capacity)
    }

    /// Takes the frame of these 10 ms in, where it is to be kept.
    /// - Parameters:
    ///   - frame: 480 samples, mono, 48 kHz, Int16, as the gate left them.
    ///   - passed: what the gate says of it.
    ///   - isLive: whether the voice is connected.
    mutating func take(_ frame: UnsafeBufferPointer<Int16>, _ passed: Gate.Passage, isLive: Bool) {
        if isLive, !wasLive {
            wasLive = true
            leaveOutSilence()
        }
        switch passed {
        case .sound: push(frame)
        // A stream goes on through silence; one that is late makes up for its delay instead.
        case .silence: if isLive, sampleCount < AudioFormat.packetSampleCount { push(frame) }
        }
    }

    /// Leaves out the silence before the first word: who has said nothing yet is not to be late.
    private mutating func leaveOutSilence() {
        var quiet = 0
        while quiet < sampleCount {
            let start = (head + quiet) % Self.capacity
            let frame = UnsafeBufferPointer(
                rebasing: samples.elements[start..<start + AudioFormat.frameSampleCount])
            guard Level.meanSquare(of: frame) < Level.silenceMeanSquare else { break }
            quiet += frame.count
        }
        if quiet < sampleCount { quiet = max(0, quiet - Self.leadSampleCount) }
        head = (head + quiet) % Self.capacity
        sampleCount -= quiet
    }

    private mutating func push(_ frame: UnsafeBufferPointer<Int16>) {
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
}
