import Glibc

/// A microphone as 10 ms frames of 48 kHz mono, whatever the card gives.
///
/// Made and used on one thread, which it holds for at most 100 ms at a time; closed by being let go of. Once made it never
/// allocates. Overruns and late threads do not make it late for good: what is older than `CaptureTiming.backlogLimit` is given up.
public final class CaptureStream {
    /// A card that gives nothing for so long is as good as gone.
    static let silenceLimit: Duration = .milliseconds(700)
    /// 2 ms, in microseconds.
    static let breakPause: UInt32 = 2_000
    private static let waitLimit: Duration = .milliseconds(100)

    private let pcm: PCM
    /// Which card it is of.
    private var soundPlace: SoundPlace?
    private var converter: RateConverter
    private let timing: CaptureTiming
    private let bytes: UnsafeMutableRawBufferPointer
    /// The card's samples as mono, of which `pendingCount` from `pendingStart` on are not converted yet.
    private let mono: UnsafeMutableBufferPointer<Int16>
    private var pendingStart = 0
    private var pendingCount = 0
    /// What is in the caller's frame already.
    private var filledCount = 0
    private let partial: UnsafeMutableBufferPointer<Int16>
    private var isStarted = false
    private var lastSoundAt = MonotonicTime.now

    /// How often sound was lost because the thread came late or the card stumbled.
    public private(set) var overrunCount = 0

    /// 10 ms at 48 kHz.
    static let frameSampleCount = 480
    static let samplesPerSecond = 48_000

    /// Opens the microphone of a card.
    /// - Throws: `absent`, `busy`, `notPermitted` or `unsupported`, as a sentence.
    public convenience init(_ name: CardName) throws(ALSAError) {
        try self.init(SoundCards.present().place(of: name, for: .capture))
    }

    private convenience init(_ place: SoundPlace) throws(ALSAError) {
        do throws(ALSAError) {
            try self.init(pcmName: place.pcmName, place: place.sentence)
        } catch {
            throw error.namingUsers(of: place)
        }
        soundPlace = place
    }

    /// Where `auto` means another card than this by now: a stream of that; nil where it does not, or where that cannot be opened (yet).
    public func successor(_ name: CardName) -> CaptureStream? {
        guard name.card == .auto, let better = try? SoundCards.present().place(of: name, for: .capture),
            better != soundPlace
        else { return nil }
        return try? CaptureStream(better)
    }

    init(pcmName: String, place: String, wish: PCMWish = PCMWish()) throws(ALSAError) {
        let pcm = try PCM.opened(pcmName, place: place, direction: .capture, wish: wish)
        guard let converter = RateConverter.make(from: pcm.grant.samplesPerSecond, to: Self.samplesPerSecond) else {
            throw ALSAError(
                .unsupported, "\(place) has a rate that cannot be converted", cure: "use another card or device")
        }
        let capacity = converter.inputCount(for: Self.frameSampleCount)
        try pcm.setThresholds(availableCount: min(capacity, pcm.grant.bufferSampleCount / 2), startCount: 1)
        try pcm.prepare()
        bytes = .allocate(byteCount: capacity * pcm.grant.stride, alignment: 16)
        mono = .allocate(capacity: capacity)
        partial = .allocate(capacity: Self.frameSampleCount)
        timing = CaptureTiming(grant: pcm.grant, converterLatency: converter.latency)
        self.converter = converter
        self.pcm = pcm
    }

    deinit {
        bytes.deallocate()
        mono.deallocate()
        partial.deallocate()
    }

    /// Which card it is and what it granted, for a sentence.
    public var description: String { "\(pcm.place) (\(pcm.grant.sentence))" }

    /// Blocks until the next 10 ms are there, at most 100 ms.
    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16, filled where a time is returned.
    /// - Returns: when its last sample was in front of the microphone, as time since the zero of CLOCK_MONOTONIC; nil where nothing
    ///   came in time.
    /// - Throws: `lost`: let go of it and make another one.
    public func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(ALSAError) -> Duration? {
        precondition(frame.count == Self.frameSampleCount)
        let limit = MonotonicTime.now + Self.waitLimit
        if !isStarted {
            try pcm.start()
            isStarted = true
            lastSoundAt = MonotonicTime.now
        }
        while true {
            convert()
            if filledCount == Self.frameSampleCount {
                filledCount = 0
                _ = frame.update(fromContentsOf: partial)
                return try capturedAt()
            }
            let wanted = converter.inputCount(for: Self.frameSampleCount - filledCount)
            switch try pcm.read(into: bytes, sampleCount: min(wanted, mono.count)) {
            case .samples(let count) where count > 0:
                lastSoundAt = MonotonicTime.now
                take(count)
            case .samples, .wait:
                let now = MonotonicTime.now
                guard now - lastSoundAt < Self.silenceLimit else {
                    throw ALSAError(.lost, "\(pcm.place) gives no sound", cure: "plug it in again")
                }
                guard limit > now else { return nil }
                _ = try pcm.wait(atMost: limit - now)
            case .broken:
                overrunCount += 1
                try restart()
                guard limit > MonotonicTime.now else { return nil }
            }
        }
    }

    private func restart() throws(ALSAError) {
        // A card that breaks again at once, as one that is just waking up, must not keep a processor busy.
        usleep(Self.breakPause)
        try pcm.prepare()
        try pcm.start()
        lastSoundAt = MonotonicTime.now
    }

    /// Takes `count` samples out of `bytes`, behind which nothing is pending.
    private func take(_ count: Int) {
        pendingStart = 0
        pendingCount = count
        pcm.grant.format.read(
            UnsafeRawBufferPointer(bytes), channelCount: pcm.grant.channelCount,
            into: UnsafeMutableBufferPointer(rebasing: mono[..<count]))
    }

    /// Brings what is pending into the frame, as far as it goes: afterwards the frame is full or nothing is pending.
    private func convert() {
        while pendingCount > 0, filledCount < Self.frameSampleCount {
            let input = UnsafeBufferPointer(rebasing: mono[pendingStart..<pendingStart + pendingCount])
            let output = UnsafeMutableBufferPointer(rebasing: partial[filledCount...])
            let (used, written) = converter.convert(input, into: output)
            pendingStart += used
            pendingCount -= used
            filledCount += written
            if used == 0, written == 0 { break }
        }
    }

    /// When the last sample handed out was in the microphone; gives up what is too old on the way.
    private func capturedAt() throws(ALSAError) -> Duration {
        let status = try pcm.currentStatus()
        let capturedAt = timing.capturedAt(status, pendingCount: pendingCount)
        let excess = timing.excess(status)
        if excess > 0 { try skip(excess) }
        return capturedAt
    }

    private func skip(_ sampleCount: Int) throws(ALSAError) {
        overrunCount += 1
        var rest = sampleCount
        while rest > 0 {
            guard case .samples(let count) = try pcm.read(into: bytes, sampleCount: min(rest, mono.count)), count > 0
            else { return }
            rest -= count
        }
    }
}

extension PCM.Grant {
    /// For a sentence: "48000 Hz, 2 channels, int16, period 480, buffer 7680".
    var sentence: String {
        let channels = channelCount == 1 ? "1 channel" : "\(channelCount) channels"
        return
            "\(samplesPerSecond) Hz, \(channels), \(format), period \(periodSampleCount), buffer \(bufferSampleCount)"
    }
}

extension ALSAError {
    /// A busy device's error, with the programs that hold it.
    func namingUsers(of place: SoundPlace) -> ALSAError {
        guard reason == .busy else { return self }
        let names = SoundUser.names(of: place)
        guard !names.isEmpty else { return self }
        var named = self
        named.what = "\(place.sentence) is in use by \(names.joined(separator: ", "))"
        return named
    }
}
