/// How loud a stretch of sound is.
enum Level {
    /// What is taken for a pause: an open microphone in a quiet room lies below it, speech above.
    static let silenceMeanSquare = 1e-5  // -50 dBFS

    /// The mean of the squared samples, full scale being 1; 0 of nothing.
    static func meanSquare(of pcm: UnsafeBufferPointer<Int16>) -> Double {
        guard !pcm.isEmpty else { return 0 }
        var sum: Int64 = 0
        for sample in pcm { sum &+= Int64(sample) * Int64(sample) }
        return Double(sum) / Double(pcm.count) / (32768 * 32768)
    }

    /// Decibels below full scale (0 dBFS: a square wave at full scale); -96 at the least.
    static func decibels(of pcm: UnsafeBufferPointer<Int16>) -> Double {
        let meanSquare = meanSquare(of: pcm)
        guard meanSquare > 0 else { return -96 }
        return max(-96, 10 * logarithm(meanSquare) / ln10)
    }

    private static let ln2 = 0.693147180559945309
    private static let ln10 = 2.302585092994045684

    /// The natural logarithm, good to 1e-6: Swift's own library has none. ln m = 2 artanh((m - 1) / (m + 1)), as a series.
    private static func logarithm(_ value: Double) -> Double {
        let z = (value.significand - 1) / (value.significand + 1)
        let square = z * z
        let series = z * (1 + square * (1 / 3.0 + square * (1 / 5.0 + square * (1 / 7.0 + square * (1 / 9.0)))))
        return Double(value.exponent) * ln2 + 2 * series
    }
}
