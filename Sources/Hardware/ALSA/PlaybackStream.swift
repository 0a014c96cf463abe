import Glibc

/// A speaker that takes 10 ms frames of 48 kHz mono, whatever the card wants.
///
/// Used by one thread at a time, which it holds for at most 100 ms; closed by being let go of. Once made it
/// allocates only where its level changes. How much waits in the card is bounded by `FillLevel`, also after underruns.
public final class PlaybackStream {
    private static let waitLimit: Duration = .milliseconds(100)
    private static let frameSampleCount = CaptureStream.frameSampleCount

    private let pcm: PCM
    /// Which card it is of.
    private var soundPlace: SoundPlace?
    private var converter: RateConverter
    private let timing: PlaybackTiming
    private var level: FillLevel
    private let mono: UnsafeMutableBufferPointer<Int16>
    private let bytes: UnsafeMutableRawBufferPointer
    /// 10 ms of the granted format.
    private let silence: UnsafeMutableRawBufferPointer
    private var lastTakenAt = MonotonicTime.now

    /// How often the card ran out of sound.
    public private(set) var underrunCount = 0

    /// Makes ready what the first stream, of either direction, would wait for. Opens no card; blocks for some milliseconds.
    public static func warm() {
        PCM.warm()
        // alsa-lib's own nothing: what opens a card's speaker is in memory then, and was run once.
        _ = try? PlaybackStream(pcmName: "null", place: "nothing")
    }

    /// Opens the speaker of a card.
    /// - Throws: `absent`, `busy`, `notPermitted` or `unsupported`, as a sentence.
    public convenience init(_ name: CardName) throws(ALSAError) {
        try self.init(SoundCards.present().place(of: name, for: .playback))
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
    public func successor(_ name: CardName) -> PlaybackStream? {
        guard name.card == .auto, let better = try? SoundCards.present().place(of: name, for: .playback),
            better != soundPlace
        else { return nil }
        return try? PlaybackStream(better)
    }

    init(pcmName: String, place: String, wish: PCMWish = PCMWish()) throws(ALSAError) {
        let pcm = try PCM.opened(pcmName, place: place, direction: .playback, wish: wish)
        guard let converter = RateConverter.make(from: CaptureStream.samplesPerSecond, to: pcm.grant.samplesPerSecond)
        else {
            throw ALSAError(
                .unsupported, "\(place) has a rate that cannot be converted", cure: "use another card or device")
        }
        let level = FillLevel(period: pcm.grant.duration(pcm.grant.periodSampleCount), at: MonotonicTime.now)
        let timing = PlaybackTiming(grant: pcm.grant, converterLatency: converter.latency)
        try Self.setThresholds(pcm, timing, level)
        try pcm.prepare()
        let capacity = converter.outputCount(for: Self.frameSampleCount)
        let silenceCount = pcm.grant.sampleCount(PlaybackTiming.frame)
        mono = .allocate(capacity: capacity)
        bytes = .allocate(byteCount: capacity * pcm.grant.stride, alignment: 16)
        silence = .allocate(byteCount: silenceCount * pcm.grant.stride, alignment: 16)
        // All bytes zero is silence in each of the formats.
        silence.initializeMemory(as: UInt8.self, repeating: 0)
        self.level = level
        self.timing = timing
        self.converter = converter
        self.pcm = pcm
    }

    deinit {
        mono.deallocate()
        bytes.deallocate()
        silence.deallocate()
    }

    /// Which card it is and what it granted, for a sentence.
    public var description: String { "\(pcm.place) (\(pcm.grant.sentence))" }

    /// Blocks until the card has room for 10 ms more, at most 100 ms.
    /// - Throws: `lost`: let go of it and make another one.
    public func awaitRoom() throws(ALSAError) {
        let limit = MonotonicTime.now + Self.waitLimit
        while true {
            let now = MonotonicTime.now
            guard limit > now else { break }
            if try pcm.wait(atMost: limit - now) { return }
        }
        guard MonotonicTime.now - lastTakenAt < CaptureStream.silenceLimit else {
            throw ALSAError(.lost, "\(pcm.place) plays nothing", cure: "plug it in again")
        }
    }

    /// Blocks until the card takes 10 ms more, at most 100 ms.
    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16.
    /// - Returns: when its first sample will sound, as time since the zero of CLOCK_MONOTONIC; nil where it was not taken in time.
    /// - Throws: `lost`: let go of it and make another one.
    public func write(_ frame: UnsafeBufferPointer<Int16>) throws(ALSAError) -> Duration? {
        precondition(frame.count == Self.frameSampleCount)
        var status = try pcm.currentStatus()
        if status.isBroken {
            underrunCount += 1
            level.underran(at: status.at)
            try Self.setThresholds(pcm, timing, level)
            try pcm.prepare()
            status = try pcm.currentStatus()
        }
        if !status.isRunning {
            try fill()
            status = try pcm.currentStatus()
        }
        guard !timing.isFull(status, target: level.target), try put(frame) else { return nil }
        let now = MonotonicTime.now
        lastTakenAt = now
        if level.wrote(at: now) { try Self.setThresholds(pcm, timing, level) }
        return timing.playsAt(status)
    }

    /// Silence before the first frame, up to the level, so that the frame after it is not late already.
    private func fill() throws(ALSAError) {
        var rest = timing.silenceCount(target: level.target)
        let most = silence.count / pcm.grant.stride
        while rest > 0 {
            let count = min(rest, most)
            guard case .samples(let written) = try pcm.write(UnsafeRawBufferPointer(silence), sampleCount: count),
                written > 0
            else { return }
            rest -= written
        }
    }

    /// - Returns: whether all of it was taken.
    private func put(_ frame: UnsafeBufferPointer<Int16>) throws(ALSAError) -> Bool {
        let limit = MonotonicTime.now + Self.waitLimit
        let count = converter.convert(frame, into: mono).written
        pcm.grant.format.write(
            UnsafeBufferPointer(rebasing: mono[..<count]), channelCount: pcm.grant.channelCount, into: bytes)
        var written = 0
        while written < count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[(written * pcm.grant.stride)...])
            switch try pcm.write(rest, sampleCount: count - written) {
            case .samples(let taken) where taken > 0: written += taken
            // The rest of this frame is lost; the next write makes the card ready again, not at once, as it may be just waking up.
            case .broken:
                usleep(CaptureStream.breakPause)
                return false
            case .samples, .wait:
                let now = MonotonicTime.now
                guard limit > now else { return false }
                _ = try pcm.wait(atMost: limit - now)
            }
        }
        return true
    }

    private static func setThresholds(
        _ pcm: borrowing PCM, _ timing: PlaybackTiming, _ level: FillLevel
    ) throws(ALSAError) {
        try pcm.setThresholds(
            availableCount: timing.room(target: level.target), startCount: timing.silenceCount(target: level.target))
    }
}
