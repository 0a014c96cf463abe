internal import CSpeexDSP

/// Brings a mono stream from one rate to another, by speexdsp: 1 kHz stays 1 kHz.
///
/// A capture or playback stream owns it, on that stream's thread. It never allocates after its init; equal rates are copied.
struct RateConverter: ~Copyable {
    /// Of 0 to 10; 4 costs a third of 10, and what it mirrors lies 60 dB below speech.
    private static let quality: Int32 = 4

    let inputRate: Int
    let outputRate: Int
    /// nil where the rates are equal.
    private let state: OpaquePointer?

    /// - Returns: nil where speexdsp has no memory for it, or cannot convert these rates.
    static func make(from inputRate: Int, to outputRate: Int) -> RateConverter? {
        guard inputRate > 0, outputRate > 0 else { return nil }
        if inputRate == outputRate { return RateConverter(inputRate, outputRate, nil) }
        var code: Int32 = 0
        let state = speex_resampler_init(
            1, spx_uint32_t(clamping: inputRate), spx_uint32_t(clamping: outputRate), quality, &code)
        guard let state, code == Int32(RESAMPLER_ERR_SUCCESS) else { return nil }
        return RateConverter(inputRate, outputRate, state)
    }

    private init(_ inputRate: Int, _ outputRate: Int, _ state: OpaquePointer?) {
        self.inputRate = inputRate
        self.outputRate = outputRate
        self.state = state
    }

    deinit {
        if let state { speex_resampler_destroy(state) }
    }

    /// How much later a sample leaves than it came, beside what waits outside: the filter's half.
    var latency: Duration {
        guard let state else { return .zero }
        return .nanoseconds(Int64(speex_resampler_get_input_latency(state)) * 1_000_000_000 / Int64(inputRate))
    }

    /// How many samples must come in so that `count` go out, one more where the rates do not divide.
    func inputCount(for count: Int) -> Int {
        state == nil ? count : (count * inputRate + outputRate - 1) / outputRate + 1
    }

    /// The most that comes out of `count` samples.
    func outputCount(for count: Int) -> Int {
        state == nil ? count : (count * outputRate + inputRate - 1) / inputRate + 1
    }

    /// Converts as much of `input` as gives at most `output.count` samples. Both mono, Int16.
    /// - Returns: how many samples were used up and how many were written.
    mutating func convert(
        _ input: UnsafeBufferPointer<Int16>, into output: UnsafeMutableBufferPointer<Int16>
    ) -> (used: Int, written: Int) {
        guard let source = input.baseAddress, let target = output.baseAddress else { return (0, 0) }
        guard let state else {
            let count = min(input.count, output.count)
            target.update(from: source, count: count)
            return (count, count)
        }
        var used = spx_uint32_t(clamping: input.count)
        var written = spx_uint32_t(clamping: output.count)
        // Cannot fail on a state that was made and on buffers that do not overlap (speex_resampler.h).
        _ = speex_resampler_process_int(state, 0, source, &used, target, &written)
        return (Int(used), Int(written))
    }
}
