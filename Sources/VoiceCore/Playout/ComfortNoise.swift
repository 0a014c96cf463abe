/// The room of whoever speaks, while nothing is sent: noise of the level and the colour of the last pause that was heard.
///
/// A Playout owns it. It is a little softer than that pause and never louder; a pause of nothing gives nothing. Colour is that of a
/// filter of ten poles. It never allocates after its init.
struct ComfortNoise: ~Copyable {
    private static let order = 10
    /// 60 ms: what comes sooner after sound is its end, and not the room.
    private static let settlingSampleCount = 2_880
    /// How much of the room's picture is new with each piece of pause.
    private static let learning: Float = 0.3
    /// -1 dB.
    private static let gain: Float = 0.89

    private let correlation = FixedBuffer<Float>(repeating: 0, count: order + 1)
    private let coefficients = FixedBuffer<Float>(repeating: 0, count: order + 1)
    private let scratch = FixedBuffer<Float>(repeating: 0, count: order + 1)
    private let past = FixedBuffer<Float>(repeating: 0, count: order)
    private var quietSampleCount = 0
    private var excitation: Float = 0
    /// Any seed: it is noise.
    private var state: UInt32 = 0x2545_F491
    private var isStale = false

    /// Whether there is a room to be heard.
    var isAudible: Bool { correlation[0] >= 0.25 }

    /// Shows it what was decoded.
    /// - Parameters:
    ///   - sound: mono, 48 kHz, Int16.
    ///   - isQuiet: whether it is a pause.
    mutating func learn(from sound: UnsafeBufferPointer<Int16>, isQuiet: Bool) {
        guard isQuiet else {
            quietSampleCount = 0
            return
        }
        let settled = quietSampleCount >= Self.settlingSampleCount
        let isFirst = quietSampleCount < Self.settlingSampleCount + sound.count
        quietSampleCount = min(quietSampleCount + sound.count, 1 << 20)
        guard settled, sound.count > 2 * Self.order else { return }
        let share = isFirst ? 1 : Self.learning
        for lag in 0...Self.order {
            var sum: Float = 0
            for index in lag..<sound.count { sum += Float(sound[index]) * Float(sound[index - lag]) }
            let mean = sum / Float(sound.count)
            correlation[lag] += share * (mean - correlation[lag])
        }
        isStale = true
    }

    /// Forgets the room: somebody else speaks.
    mutating func forget() {
        for lag in 0...Self.order { correlation[lag] = 0 }
        quietSampleCount = 0
        excitation = 0
    }

    /// Adds noise to a frame.
    /// - Parameters:
    ///   - frame: mono, 48 kHz, Int16, changed in place.
    ///   - gains: at its begin and at its end, 0 to 1.
    mutating func mix(into frame: UnsafeMutableBufferPointer<Int16>, gains: (start: Float, end: Float)) {
        guard isAudible, gains.start > 0 || gains.end > 0 else { return }
        if isStale { solve() }
        let step = (gains.end - gains.start) / Float(frame.count)
        for index in 0..<frame.count {
            state = state &* 1_664_525 &+ 1_013_904_223  // Numerical Recipes 7.1
            var value = Float(Int32(bitPattern: state)) / 2_147_483_648 * excitation
            for order in 0..<Self.order { value -= coefficients.elements[order + 1] * past.elements[order] }
            for order in stride(from: Self.order - 1, to: 0, by: -1) {
                past.elements[order] = past.elements[order - 1]
            }
            past.elements[0] = value
            let gain = gains.start + step * Float(index)
            let sum = Float(frame[index]) + value * gain
            frame[index] = Int16(max(-32_768, min(32_767, sum.rounded())))
        }
    }

    /// The filter from the correlation: Levinson and Durbin, with a floor of -40 dB so that no filter rings.
    private mutating func solve() {
        isStale = false
        for order in 0..<Self.order { past[order] = 0 }
        for order in 0...Self.order { coefficients[order] = order == 0 ? 1 : 0 }
        var error = correlation[0] * 1.0001
        for order in 1...Self.order {
            var sum = correlation[order]
            for lag in 1..<order { sum += coefficients[lag] * correlation[order - lag] }
            let reflection = -sum / error
            guard abs(reflection) < 1 else { break }
            for lag in 1..<order { scratch[lag] = coefficients[lag] + reflection * coefficients[order - lag] }
            for lag in 1..<order { coefficients[lag] = scratch[lag] }
            coefficients[order] = reflection
            error *= 1 - reflection * reflection
        }
        // Uniform noise of the height 1 has a variance of a third.
        excitation = (3 * error).squareRoot() * Self.gain
    }
}
