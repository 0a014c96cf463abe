internal import CALSA
import Glibc

/// An open PCM: the one owner of a `snd_pcm_t`.
///
/// A stream owns it, on that stream's thread. It is opened non-blocking and no call waits longer than it is told to. Once open it
/// never allocates. Samples are counted per channel: one sample of each channel counts as one.
struct PCM: ~Copyable {
    /// What the card granted.
    struct Grant: Equatable, Sendable {
        var samplesPerSecond: Int
        var channelCount: Int
        var format: SampleFormat
        var periodSampleCount: Int
        var bufferSampleCount: Int

        /// Bytes of one sample of each channel.
        var stride: Int { channelCount * format.byteCount }

        /// How many samples are that long, rounded up.
        func sampleCount(_ duration: Duration) -> Int {
            let (seconds, attoseconds) = duration.components
            // Whole microseconds are finer than a sample; lengths are below a minute.
            let microseconds = Int(seconds) &* 1_000_000 &+ Int(attoseconds / 1_000_000_000_000)
            return (microseconds &* samplesPerSecond &+ 999_999) / 1_000_000
        }

        func duration(_ sampleCount: Int) -> Duration {
            .nanoseconds(Int64(sampleCount) &* 1_000_000_000 / Int64(max(1, samplesPerSecond)))
        }
    }

    /// What came of asking for or giving samples.
    enum Transfer {
        case samples(Int)
        /// Nothing can be had now.
        case wait
        /// It overran or underran, or the machine slept: `prepare` it.
        case broken
    }

    /// How it stands, as the driver says.
    struct Status {
        var isRunning: Bool
        var isBroken: Bool
        /// Samples that can be read or written now.
        var availableCount: Int
        /// Playback: until the next sample written sounds. Capture: since the next sample to be read was in the microphone.
        var delayCount: Int
        /// When this was so: time since the zero of CLOCK_MONOTONIC.
        var at: Duration
    }

    let grant: Grant
    /// For sentences.
    let place: String
    private let handle: OpaquePointer
    private let status: OpaquePointer

    /// Reads alsa-lib's configuration, which else the first PCM that is opened would wait for.
    static func warm() {
        talkpost_alsa_be_quiet()
        // A configuration that cannot be read is told by whoever opens a PCM.
        _ = snd_config_update()
    }

    /// Opens a PCM and agrees on a format with it.
    /// - Parameters:
    ///   - name: as alsa-lib's configuration knows it.
    ///   - place: what it is called in sentences.
    /// - Throws: it is absent, busy, not permitted, or has no format that can be used.
    static func opened(
        _ name: String, place: String, direction: SoundDirection, wish: PCMWish = PCMWish()
    ) throws(ALSAError) -> PCM {
        talkpost_alsa_be_quiet()
        let stream = direction == .capture ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK
        var handle: OpaquePointer?
        let flags = Int32(
            SND_PCM_NONBLOCK | SND_PCM_NO_AUTO_RESAMPLE | SND_PCM_NO_AUTO_CHANNELS | SND_PCM_NO_AUTO_FORMAT)
        let code = snd_pcm_open(&handle, name, stream, flags)
        guard code >= 0, let handle else { throw ALSAError("snd_pcm_open", code: Int(code), at: place) }
        var status: OpaquePointer?
        do throws(ALSAError) {
            let grant = try PCMNegotiation(handle, place: place).agree(on: wish)
            guard snd_pcm_status_malloc(&status) >= 0, let status else {
                throw ALSAError("snd_pcm_status_malloc", code: Int(-ENOMEM), at: place)
            }
            return PCM(grant, place: place, handle: handle, status: status)
        } catch {
            snd_pcm_close(handle)
            throw error
        }
    }

    private init(_ grant: Grant, place: String, handle: OpaquePointer, status: OpaquePointer) {
        self.grant = grant
        self.place = place
        self.handle = handle
        self.status = status
    }

    deinit {
        // Never drained: what is still to be played is given up, so that closing does not wait for a stalled card.
        snd_pcm_drop(handle)
        snd_pcm_close(handle)
        snd_pcm_status_free(status)
    }

    /// Sets at which room or stock `wait` ends, and at how many written samples a playback starts by itself.
    /// - Throws: the card is gone or refuses.
    func setThresholds(availableCount: Int, startCount: Int) throws(ALSAError) {
        try PCMNegotiation(handle, place: place).setThresholds(availableCount: availableCount, startCount: startCount)
    }

    /// Makes it ready after an overrun, an underrun or a sleep of the machine; what was in it is lost.
    /// - Throws: the card is gone.
    func prepare() throws(ALSAError) {
        if snd_pcm_state(handle) == SND_PCM_STATE_SUSPENDED { _ = snd_pcm_resume(handle) }
        let code = snd_pcm_prepare(handle)
        // A card that is about to wake up says EAGAIN: it is asked again at the next turn.
        guard code >= 0 || code == -EAGAIN else { throw ALSAError("snd_pcm_prepare", code: Int(code), at: place) }
    }

    /// Starts it; a capture does not start by itself.
    /// - Throws: the card is gone.
    func start() throws(ALSAError) {
        let code = snd_pcm_start(handle)
        // Already running, or broken again meanwhile, which the next transfer tells.
        guard code >= 0 || code == -EBADFD || code == -EPIPE || code == -EAGAIN else {
            throw ALSAError("snd_pcm_start", code: Int(code), at: place)
        }
    }

    /// Waits until the thresholds are met.
    /// - Returns: false where they were not within `limit`, at most 100 ms.
    /// - Throws: the card is gone.
    func wait(atMost limit: Duration) throws(ALSAError) -> Bool {
        let milliseconds = Int32(clamping: max(1, min(100, limit.components.attoseconds / 1_000_000_000_000_000)))
        let code = snd_pcm_wait(handle, limit >= .milliseconds(100) ? 100 : milliseconds)
        // Broken, or interrupted: the transfer that follows tells.
        if code == -EPIPE || code == -ESTRPIPE || code == -EINTR { return true }
        guard code >= 0 else { throw ALSAError("snd_pcm_wait", code: Int(code), at: place) }
        return code > 0
    }

    /// Takes what is there.
    /// - Parameter bytes: room for `sampleCount` samples of the granted format.
    /// - Throws: the card is gone.
    func read(into bytes: UnsafeMutableRawBufferPointer, sampleCount: Int) throws(ALSAError) -> Transfer {
        precondition(sampleCount * grant.stride <= bytes.count, "less room than samples")
        return try transfer(snd_pcm_readi(handle, bytes.baseAddress, snd_pcm_uframes_t(sampleCount)), "snd_pcm_readi")
    }

    /// Gives as much as there is room for.
    /// - Parameter bytes: `sampleCount` samples of the granted format.
    /// - Throws: the card is gone.
    func write(_ bytes: UnsafeRawBufferPointer, sampleCount: Int) throws(ALSAError) -> Transfer {
        precondition(sampleCount * grant.stride <= bytes.count, "fewer bytes than samples")
        return try transfer(snd_pcm_writei(handle, bytes.baseAddress, snd_pcm_uframes_t(sampleCount)), "snd_pcm_writei")
    }

    private func transfer(_ code: snd_pcm_sframes_t, _ operation: StaticString) throws(ALSAError) -> Transfer {
        if code >= 0 { return .samples(code) }
        switch Int32(clamping: -code) {
        case EAGAIN, EINTR: return .wait
        case EPIPE, ESTRPIPE: return .broken
        case EBADFD where snd_pcm_state(handle) != SND_PCM_STATE_DISCONNECTED: return .broken
        default: throw ALSAError(operation, code: code, at: place)
        }
    }

    /// How it stands at this moment.
    /// - Throws: the card is gone.
    func currentStatus() throws(ALSAError) -> Status {
        let code = snd_pcm_status(handle, status)
        guard code >= 0 else { throw ALSAError("snd_pcm_status", code: Int(code), at: place) }
        let state = snd_pcm_status_get_state(status)
        if state == SND_PCM_STATE_DISCONNECTED { throw ALSAError("snd_pcm_status", code: Int(-ENODEV), at: place) }
        var time = timespec()
        snd_pcm_status_get_htstamp(status, &time)
        let now = MonotonicTime.now
        let stamp = MonotonicTime.duration(time)
        // A plugin may give no time, or one of another clock.
        let isPlausible = stamp <= now && now - stamp < .milliseconds(500)
        return Status(
            isRunning: state == SND_PCM_STATE_RUNNING,
            isBroken: state == SND_PCM_STATE_XRUN || state == SND_PCM_STATE_SUSPENDED || state == SND_PCM_STATE_SETUP,
            availableCount: Int(clamping: snd_pcm_status_get_avail(status)),
            delayCount: snd_pcm_status_get_delay(status), at: isPlausible ? stamp : now)
    }
}

/// CLOCK_MONOTONIC, as a time since its zero.
enum MonotonicTime {
    static var now: Duration {
        var time = timespec()
        // Cannot fail: the clock exists on every Linux (clock_gettime(2)).
        clock_gettime(CLOCK_MONOTONIC, &time)
        return duration(time)
    }

    static func duration(_ time: timespec) -> Duration {
        .nanoseconds(Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }
}
