import Glibc

/// Brings a whole recording to 48 kHz, before a call, by a windowed sinc in polyphase form. Pure.
///
/// Only for files: a sound card's stream is another matter.
enum Resampler {
    static let samplesPerSecond = 48_000
    /// Taps on each side at rates up to 48 kHz: more than 60 dB between what is kept and what is mirrored.
    private static let tapsPerSide = 24

    /// - Parameter rate: of `samples`, 4,000 to 384,000 per second.
    static func resample(_ samples: [Int16], from rate: Int) -> [Int16] {
        guard rate != samplesPerSecond, !samples.isEmpty else { return samples }
        let divisor = greatestCommonDivisor(rate, samplesPerSecond)
        let (step, phaseCount) = (rate / divisor, samplesPerSecond / divisor)
        // What neither rate can hold is left out: the cutoff in cycles per input sample, times two.
        let cutoff = min(1, Double(samplesPerSecond) / Double(rate)) * 0.95
        let side = Int((Double(tapsPerSide) / cutoff).rounded(.up))
        let taps = (0..<phaseCount).flatMap { phase in
            (0..<2 * side).map { tap in
                weight(Double(tap - side + 1) - Double(phase) / Double(phaseCount), cutoff: cutoff, side: side)
            }
        }
        let count = samples.count * phaseCount / step
        return [Int16](unsafeUninitializedCapacity: count) { output, initialized in
            samples.withUnsafeBufferPointer { input in
                taps.withUnsafeBufferPointer { taps in
                    for index in 0..<count {
                        let (whole, phase) = (index * step / phaseCount, index * step % phaseCount)
                        let first = whole - side + 1
                        var sum: Float = 0
                        for tap in max(0, -first)..<max(0, -first, min(2 * side, input.count - first)) {
                            sum += Float(input[first + tap]) * taps[phase * 2 * side + tap]
                        }
                        output[index] = Int16(max(-32_768, min(32_767, sum.rounded())))
                    }
                }
            }
            initialized = count
        }
    }

    /// A sinc under a Blackman window (Oppenheim and Schafer, 7.5).
    private static func weight(_ position: Double, cutoff: Double, side: Int) -> Float {
        guard abs(position) < Double(side) else { return 0 }
        let angle = Double.pi * position * cutoff
        let sinc = angle == 0 ? 1 : sin(angle) / angle
        let turn = Double.pi * position / Double(side)
        return Float(cutoff * sinc * (0.42 + 0.5 * cos(turn) + 0.08 * cos(2 * turn)))
    }

    private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int {
        var (a, b) = (a, b)
        while b != 0 { (a, b) = (b, a % b) }
        return a
    }
}
