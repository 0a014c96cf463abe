/// Lets the microphone through, or puts silence in its place, without a click at the change.
///
/// The capture thread owns it. What is heard of a muted microphone is encoded silence, so that the stream goes on.
struct Gate: Sendable {
    /// 5 ms: long enough not to click, short enough to lose nothing of a word.
    private static let rampSampleCount = 240

    /// What a frame holds once it has passed.
    enum Passage: Equatable {
        /// The microphone's sound, or a part of it.
        case sound
        /// Nothing of it.
        case silence
    }

    private var gain: Float

    init(isOpen: Bool) {
        gain = isOpen ? 1 : 0
    }

    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16, changed in place.
    mutating func apply(to frame: UnsafeMutableBufferPointer<Int16>, isOpen: Bool) -> Passage {
        let goal: Float = isOpen ? 1 : 0
        guard gain != goal else {
            if isOpen { return .sound }
            frame.update(repeating: 0)
            return .silence
        }
        frame.ramp(from: gain, to: goal, over: Self.rampSampleCount)
        gain = goal
        return .sound
    }
}

extension UnsafeMutableBufferPointer<Int16> {
    /// Multiplies with a gain that runs straight from one value to the other and then stays.
    func ramp(from start: Float, to end: Float, over sampleCount: Int) {
        for index in indices {
            let gain = index >= sampleCount ? end : start + (end - start) * Float(index) / Float(sampleCount)
            self[index] = Int16(clamping: Int32(Float(self[index]) * gain))  // gains are 0 to 1
        }
    }
}
