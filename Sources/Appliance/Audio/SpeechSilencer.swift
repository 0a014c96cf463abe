/// Silences what the provider is saying until it pauses, so that a press is not talked over. Pure.
///
/// It works here alone: the provider goes on and is not told yet. It is shown every frame of the provider's voice in turn.
struct SpeechSilencer: Sendable {
    /// 400 ms of quiet: longer than between two words, shorter than between question and answer.
    static let pauseFrameCount = 40
    /// 20 s: whoever speaks on for longer is heard again.
    static let limitFrameCount = 2000
    /// 5 ms.
    private static let rampSampleCount = 240

    /// Frames of quiet up to now.
    private var quietFrameCount = pauseFrameCount
    /// How many frames are silenced at most from now on; nil: none.
    private var framesLeft: Int?
    private var gain: Float = 1

    /// Silences what is being said; where nothing is, nothing happens.
    mutating func silence() {
        if quietFrameCount < Self.pauseFrameCount { framesLeft = Self.limitFrameCount }
    }

    /// - Parameters:
    ///   - frame: 480 samples, mono, 48 kHz, Int16, changed in place.
    ///   - isQuiet: whether nobody speaks in it.
    mutating func shape(_ frame: UnsafeMutableBufferPointer<Int16>, isQuiet: Bool) {
        quietFrameCount = isQuiet ? min(quietFrameCount + 1, Self.pauseFrameCount) : 0
        if let left = framesLeft {
            framesLeft = left > 0 && quietFrameCount < Self.pauseFrameCount ? left - 1 : nil
        }
        let goal: Float = framesLeft == nil ? 1 : 0
        guard gain != goal || goal == 0 else { return }
        let step = (goal - gain) / Float(Self.rampSampleCount)
        for index in frame.indices {
            let factor = index < Self.rampSampleCount ? gain + step * Float(index) : goal
            frame[index] = Int16(clamping: Int32(Float(frame[index]) * factor))  // factors are 0 to 1
        }
        gain = goal
    }
}
