/// Takes invented sound down to silence before it buzzes, and brings back what comes after it without a click.
///
/// A Playout owns it and shows it each frame in turn.
struct Fade: Sendable {
    /// Frames in a row: from 80 ms on invented sound fades, at 200 ms it is silent.
    private static let frameCounts = (start: 8, end: 20)
    /// 2.5 ms: no click, and the onset of a word stays.
    private static let returnSampleCount = 120

    private var inventedRun = frameCounts.end
    /// At the end of the frame before.
    private(set) var gain: Float = 1

    /// Whether more invention would not be heard.
    var isSilent: Bool { inventedRun >= Self.frameCounts.end }

    /// - Parameters:
    ///   - frame: 480 samples, mono, 48 kHz, Int16, changed in place.
    ///   - kind: what it holds.
    ///   - endsNow: whether it is the last before silence, whatever it holds.
    mutating func shape(_ frame: UnsafeMutableBufferPointer<Int16>, _ kind: PlayoutKind, endsNow: Bool) {
        var goal: Float = 1
        var rampSampleCount = Self.returnSampleCount
        switch kind {
        case .decoded, .fec:
            inventedRun = 0
        case .comfortNoise:
            break
        case .silence:
            goal = gain
        case .concealed:
            let (start, end) = Self.frameCounts
            inventedRun = min(inventedRun + 1, end)
            goal = min(gain, Float(end - max(inventedRun, start)) / Float(end - start))
            rampSampleCount = frame.count
        }
        if endsNow {
            goal = 0
            rampSampleCount = frame.count
            inventedRun = Self.frameCounts.end
        }
        if gain != 1 || goal != 1 { frame.ramp(from: gain, to: goal, over: rampSampleCount) }
        gain = goal
    }
}
