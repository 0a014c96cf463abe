import Glibc

/// Tells speech from quiet by its energy, 10 ms at a time. Pure; enough for a demonstration.
struct SpeechDetector {
    /// A frame is loud from -45 dBFS on: below speech at any usual distance, above what an encoder makes of silence.
    private static let loudEnergy = 0.00003162 * 32768 * 32768

    /// The last 16 frames, the latest in the lowest bit: 1 is loud.
    private var history: UInt16 = 0
    /// How many frames ago one was loud.
    private(set) var quietFrameCount = 0

    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16.
    mutating func take(_ frame: UnsafeBufferPointer<Int16>) {
        var energy = 0.0
        for sample in frame { energy += Double(sample) * Double(sample) }
        let isLoud = !frame.isEmpty && energy / Double(frame.count) >= Self.loudEnergy
        history = history << 1 | (isLoud ? 1 : 0)
        quietFrameCount = isLoud ? 0 : quietFrameCount + 1
    }

    /// Whether somebody began to speak: three loud frames among the last ten; a click has fewer.
    var isSpeech: Bool { (history & 0x3FF).nonzeroBitCount >= 3 }
}

/// Hears utterances and says each again after a pause. It never speaks while it hears.
///
/// Pure but for its memory, which is taken once: one minute. Owned by a `RepeatingDevice`.
struct Repeater: ~Copyable {
    static let frameSampleCount = 480
    private static let ringFrameCount = 6_000
    /// Of a longer utterance the end is said again; the rest of the ring stays free for what is heard meanwhile.
    private static let utteranceFrameCount = 5_000
    /// What is repeated before the first loud frames and after the last one.
    private static let marginFrameCount = 25

    enum Event: Equatable, Sendable {
        case hearing
        case repeating(frameCount: Int)
        /// Somebody spoke into it; the rest is not said.
        case interrupted
        case repeated
    }

    private enum Phase {
        case listening
        case hearing(first: Int)
        case speaking(next: Int, end: Int)
    }

    private let ring: UnsafeMutablePointer<Int16>
    private let quietFrameLimit: Int
    private var heardFrameCount = 0
    private var detector = SpeechDetector()
    private var phase = Phase.listening

    /// - Parameter quietFrameLimit: how many quiet frames end an utterance.
    init(quietFrameLimit: Int) {
        self.quietFrameLimit = max(1, quietFrameLimit)
        // calloc gives this much as pages untouched: filling 6 MB here would keep the offer's answer waiting for a millisecond.
        guard let memory = calloc(Self.ringFrameCount * Self.frameSampleCount, MemoryLayout<Int16>.stride) else {
            preconditionFailure("There is no memory for a minute of sound.")
        }
        ring = memory.bindMemory(to: Int16.self, capacity: Self.ringFrameCount * Self.frameSampleCount)
    }

    deinit {
        free(ring)
    }

    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16: what came from the other side.
    /// - Returns: what this changed.
    mutating func hear(_ frame: UnsafeBufferPointer<Int16>) -> Event? {
        guard frame.count == Self.frameSampleCount, let samples = frame.baseAddress else { return nil }
        slot(heardFrameCount).update(from: samples, count: frame.count)
        heardFrameCount += 1
        detector.take(frame)

        switch phase {
        case .listening:
            return begin(saying: .hearing)
        case .speaking:
            return begin(saying: .interrupted)
        case .hearing(let first):
            guard detector.quietFrameCount >= quietFrameLimit else { return nil }
            let end = heardFrameCount - detector.quietFrameCount + min(Self.marginFrameCount, quietFrameLimit)
            let next = max(first, end - Self.utteranceFrameCount)
            phase = .speaking(next: next, end: end)
            return .repeating(frameCount: end - next)
        }
    }

    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16, filled with what it says: silence unless it repeats.
    /// - Returns: what this changed.
    mutating func speak(into frame: UnsafeMutableBufferPointer<Int16>) -> Event? {
        guard case .speaking(let next, let end) = phase, frame.count == Self.frameSampleCount,
            let samples = frame.baseAddress
        else {
            frame.update(repeating: 0)
            return nil
        }
        samples.update(from: slot(next), count: frame.count)
        guard next + 1 < end else {
            phase = .listening
            return .repeated
        }
        phase = .speaking(next: next + 1, end: end)
        return nil
    }

    private mutating func begin(saying event: Event) -> Event? {
        guard detector.isSpeech else { return nil }
        phase = .hearing(first: max(0, heardFrameCount - 10 - Self.marginFrameCount))
        return event
    }

    private func slot(_ index: Int) -> UnsafeMutablePointer<Int16> {
        ring + (index % Self.ringFrameCount) * Self.frameSampleCount
    }
}
