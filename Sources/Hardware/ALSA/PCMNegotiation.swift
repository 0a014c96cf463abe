internal import CALSA
import Glibc

/// What is asked of a PCM, in the order of preference; what it grants instead is taken.
struct PCMWish {
    var samplesPerSecond = 48_000
    var channelCount = 1
    var formats = SampleFormat.allCases
    /// How often the card calls: as often as frames are made.
    var period: Duration = .milliseconds(10)
    /// Room enough for a thread that comes late; how much of it is filled is the stream's affair.
    var buffer: Duration = .milliseconds(160)
}

/// Agrees on a format with a PCM that was just opened. Owns nothing; lives for the call.
struct PCMNegotiation {
    private let handle: OpaquePointer
    private let place: String

    init(_ handle: OpaquePointer, place: String) {
        self.handle = handle
        self.place = place
    }

    /// Sets the nearest to `wish` that the PCM has, and reads back what that is.
    /// - Throws: it has no format, rate and channels that can be used.
    func agree(on wish: PCMWish) throws(ALSAError) -> PCM.Grant {
        var made: OpaquePointer?
        try check(snd_pcm_hw_params_malloc(&made), "snd_pcm_hw_params_malloc")
        guard let parameters = made else { throw ALSAError("snd_pcm_hw_params_malloc", code: Int(-ENOMEM), at: place) }
        defer { snd_pcm_hw_params_free(parameters) }
        try check(snd_pcm_hw_params_any(handle, parameters), "snd_pcm_hw_params_any")
        try check(
            snd_pcm_hw_params_set_access(handle, parameters, SND_PCM_ACCESS_RW_INTERLEAVED),
            "snd_pcm_hw_params_set_access")
        // The rate first: what it leaves of channels and formats costs less than converting the rate.
        var rate = UInt32(clamping: wish.samplesPerSecond)
        try check(
            snd_pcm_hw_params_set_rate_near(handle, parameters, &rate, nil), "snd_pcm_hw_params_set_rate_near")
        var channelCount = UInt32(clamping: wish.channelCount)
        try check(
            snd_pcm_hw_params_set_channels_near(handle, parameters, &channelCount),
            "snd_pcm_hw_params_set_channels_near")
        let usable = wish.formats.first {
            snd_pcm_hw_params_test_format(handle, parameters, $0.name) >= 0
        }
        guard let format = usable else {
            throw ALSAError(
                .unsupported, "\(place) has none of the sample formats S16_LE, S32_LE, S24_LE, S24_3LE, FLOAT_LE",
                cure: "use another card or device")
        }
        try check(snd_pcm_hw_params_set_format(handle, parameters, format.name), "snd_pcm_hw_params_set_format")
        // These two are wishes: a card that has one size only grants that.
        var period = UInt32(clamping: wish.period.wholeMicroseconds)
        _ = snd_pcm_hw_params_set_period_time_near(handle, parameters, &period, nil)
        var buffer = UInt32(clamping: wish.buffer.wholeMicroseconds)
        _ = snd_pcm_hw_params_set_buffer_time_near(handle, parameters, &buffer, nil)
        try check(snd_pcm_hw_params(handle, parameters), "snd_pcm_hw_params")
        return try granted(parameters, format)
    }

    private func granted(_ parameters: OpaquePointer, _ format: SampleFormat) throws(ALSAError) -> PCM.Grant {
        var rate: UInt32 = 0
        try check(snd_pcm_hw_params_get_rate(parameters, &rate, nil), "snd_pcm_hw_params_get_rate")
        var channelCount: UInt32 = 0
        try check(snd_pcm_hw_params_get_channels(parameters, &channelCount), "snd_pcm_hw_params_get_channels")
        var period: snd_pcm_uframes_t = 0
        try check(snd_pcm_hw_params_get_period_size(parameters, &period, nil), "snd_pcm_hw_params_get_period_size")
        var buffer: snd_pcm_uframes_t = 0
        try check(snd_pcm_hw_params_get_buffer_size(parameters, &buffer), "snd_pcm_hw_params_get_buffer_size")
        // What no card has, and what the arithmetic of the streams could not bear.
        guard (4_000...768_000).contains(rate), (1...64).contains(channelCount), period > 0,
            (period...10_000_000).contains(buffer)
        else {
            throw ALSAError(
                .unsupported, "\(place) grants only \(rate) samples a second in \(channelCount) channels",
                cure: "use another card or device")
        }
        return PCM.Grant(
            samplesPerSecond: Int(rate), channelCount: Int(channelCount), format: format,
            periodSampleCount: Int(period), bufferSampleCount: Int(buffer))
    }

    /// See `PCM.setThresholds`.
    func setThresholds(availableCount: Int, startCount: Int) throws(ALSAError) {
        var made: OpaquePointer?
        try check(snd_pcm_sw_params_malloc(&made), "snd_pcm_sw_params_malloc")
        guard let parameters = made else { throw ALSAError("snd_pcm_sw_params_malloc", code: Int(-ENOMEM), at: place) }
        defer { snd_pcm_sw_params_free(parameters) }
        try check(snd_pcm_sw_params_current(handle, parameters), "snd_pcm_sw_params_current")
        try check(
            snd_pcm_sw_params_set_avail_min(handle, parameters, snd_pcm_uframes_t(max(1, availableCount))),
            "snd_pcm_sw_params_set_avail_min")
        try check(
            snd_pcm_sw_params_set_start_threshold(handle, parameters, snd_pcm_uframes_t(max(1, startCount))),
            "snd_pcm_sw_params_set_start_threshold")
        // Where a plugin knows no time stamps, the stream reads the clock itself.
        _ = snd_pcm_sw_params_set_tstamp_mode(handle, parameters, SND_PCM_TSTAMP_ENABLE)
        _ = snd_pcm_sw_params_set_tstamp_type(handle, parameters, SND_PCM_TSTAMP_TYPE_MONOTONIC)
        try check(snd_pcm_sw_params(handle, parameters), "snd_pcm_sw_params")
    }

    private func check(_ code: Int32, _ operation: StaticString) throws(ALSAError) {
        guard code >= 0 else { throw ALSAError(operation, code: Int(code), at: place) }
    }
}

extension SampleFormat {
    /// As alsa-lib calls it.
    fileprivate var name: snd_pcm_format_t {
        switch self {
        case .int16: SND_PCM_FORMAT_S16_LE
        case .int32: SND_PCM_FORMAT_S32_LE
        case .int24: SND_PCM_FORMAT_S24_LE
        case .packedInt24: SND_PCM_FORMAT_S24_3LE
        case .float32: SND_PCM_FORMAT_FLOAT_LE
        }
    }
}

extension Duration {
    fileprivate var wholeMicroseconds: Int64 {
        components.seconds &* 1_000_000 &+ components.attoseconds / 1_000_000_000_000
    }
}
