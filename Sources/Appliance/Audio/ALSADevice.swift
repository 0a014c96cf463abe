import Hardware
import Synchronization
import VoiceCore

/// The sound cards that the config names, as the voices' sound device: the one bridge between ALSA and VoiceCore.
///
/// Made at start on main, where nothing is opened; used by one voice at a time on that voice's threads, and by the tones' thread. A card is looked for anew
/// each time it is opened, so that one that was missing is found once it is plugged in.
final class ALSADevice: AudioDevice {
    private let microphone: CardName?
    private let speaker: CardName?
    /// nil: no mixer value is ever touched.
    private let mixer: SoundMixer?
    private let checks: [(part: String, check: CardCheck)]
    /// How many microphones are open: a tone without a voice opens none.
    private let microphoneCount = Atomic(0)
    private let report: @Sendable (String) -> Void
    /// What was reported last of each, so that it is said again only where it has changed.
    private let reported = Mutex<[String: String]>([:])

    /// - Parameters:
    ///   - microphone: nil: it is not this device's.
    ///   - speaker: the same.
    ///   - mixer: those of the same cards, for `.managed`; nil: they are left as they are.
    ///   - report: takes a sentence for the log; from any thread, must not wait.
    init(microphone: CardName?, speaker: CardName?, mixer: SoundMixer?, report: @escaping @Sendable (String) -> Void) {
        self.microphone = microphone
        self.speaker = speaker
        self.mixer = mixer
        let microphoneCheck = microphone.map { ("microphone", CardCheck($0, for: .capture)) }
        let speakerCheck = speaker.map { ("speaker", CardCheck($0, for: .playback)) }
        checks = [microphoneCheck, speakerCheck].compactMap { $0 }
        self.report = report
    }

    /// What is wrong with the cards now, each as a sentence with its cure; empty: nothing. Opens nothing and does not wait; from any
    /// thread.
    var problems: [String] {
        checks.compactMap { part, check in check.problem.map { AudioDeviceError($0, part: part).description } }
    }

    func openCapture() throws(AudioDeviceError) -> ALSACapture {
        let stream = try Self.translated("microphone", microphone) { (name) throws(ALSAError) in
            try CaptureStream(name)
        }
        opened("microphone", stream.description)
        return ALSACapture(stream, device: self)
    }

    /// Sets the mixers up. A mixer that cannot be set is no reason to refuse the voice: it is said and left as it is.
    func activate(_ session: PBAudioSession) throws(AudioDeviceError) {
        guard session == .managed, let mixer else { return }
        mixer.take(microphone: microphoneCount.load(ordering: .relaxed) > 0).forEach(report)
    }

    func openPlayback() throws(AudioDeviceError) -> ALSAPlayback {
        let stream = try Self.translated("speaker", speaker) { (name) throws(ALSAError) in
            try PlaybackStream(name)
        }
        opened("speaker", stream.description)
        return ALSAPlayback(stream, device: self)
    }

    func deactivate() {
        mixer?.giveBack().forEach(report)
    }

    /// A card that was gone, or was not used before, has values of its own in its mixer.
    private func opened(_ part: String, _ what: String) {
        let isNew = reported.withLock { $0.updateValue(what, forKey: part) != what }
        if isNew { report("The \(part) is \(what).") }
        mixer?.takeAgain().forEach(report)
    }

    fileprivate func opened(_: CaptureStream) {
        microphoneCount.add(1, ordering: .relaxed)
    }

    fileprivate func closed(_ stream: CaptureStream) {
        microphoneCount.subtract(1, ordering: .relaxed)
        // A card that was pulled out is let go of whole: the kernel keeps it as long as somebody has its mixer.
        mixer?.follow().forEach(report)
        guard stream.overrunCount > 0 else { return }
        report(
            "The microphone's sound came late or broke off \(Self.times(stream.overrunCount)); what was lost is left out."
        )
    }

    fileprivate func closed(_ stream: PlaybackStream) {
        mixer?.follow().forEach(report)
        guard stream.underrunCount > 0 else { return }
        report("The speaker ran out of sound \(Self.times(stream.underrunCount)).")
    }

    private static func times(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

    // MARK: Five times a second, neither waiting nor allocating where nothing changed

    fileprivate func turn(_ stream: CaptureStream, _ watch: inout CardWatch) -> CaptureStream? {
        mixer?.follow().forEach(report)
        guard let microphone, watch.isUnsettled(at: Self.now), let better = stream.successor(microphone) else {
            return nil
        }
        opened("microphone", better.description)
        return better
    }

    fileprivate func turn(_ stream: PlaybackStream, _ watch: inout CardWatch) -> PlaybackStream? {
        // Where the microphone is a card, its thread looks after the jacks.
        if microphone == nil { mixer?.follow().forEach(report) }
        guard let speaker, watch.isUnsettled(at: Self.now), let better = stream.successor(speaker) else { return nil }
        opened("speaker", better.description)
        return better
    }

    private static var now: Duration { .nanoseconds(Instant.now().nanoseconds) }

    /// Runs `body`, and says of what it throws which part of the config it is about.
    private static func translated<Result>(
        _ part: String, _ name: CardName?, _ body: (CardName) throws(ALSAError) -> Result
    ) throws(AudioDeviceError) -> Result {
        guard let name else {
            throw AudioDeviceError(.absent, "No card is named as the \(part); name one in [sound] \(part).")
        }
        do throws(ALSAError) {
            return try body(name)
        } catch {
            throw AudioDeviceError(error, part: part)
        }
    }
}

/// The microphone of one voice. Lives on the capture thread.
final class ALSACapture: AudioCapture {
    /// 200 ms.
    fileprivate static let framesPerTurn = 20

    private let device: ALSADevice
    private var stream: CaptureStream
    private var watch = CardWatch()
    private var frameCount = 0

    fileprivate init(_ stream: CaptureStream, device: ALSADevice) {
        self.stream = stream
        self.device = device
        device.opened(stream)
    }

    deinit {
        device.closed(stream)
    }

    func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        frameCount += 1
        if frameCount % Self.framesPerTurn == 0, let better = device.turn(stream, &watch) { stream = better }
        do throws(ALSAError) {
            return try stream.read(into: frame).map { Instant(nanoseconds: $0.wholeNanoseconds) }
        } catch {
            throw AudioDeviceError(error, part: "microphone")
        }
    }
}

/// The speaker of tones and of the voice that takes it over from them. Used by one thread at a time.
final class ALSAPlayback: AudioPlayback {
    private let device: ALSADevice
    private var stream: PlaybackStream
    private var watch = CardWatch()
    private var frameCount = 0

    fileprivate init(_ stream: PlaybackStream, device: ALSADevice) {
        self.stream = stream
        self.device = device
    }

    deinit {
        device.closed(stream)
    }

    func awaitRoom() throws(AudioDeviceError) {
        do throws(ALSAError) {
            try stream.awaitRoom()
        } catch {
            throw AudioDeviceError(error, part: "speaker")
        }
    }

    func write(_ frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        frameCount += 1
        if frameCount % ALSACapture.framesPerTurn == 0, let better = device.turn(stream, &watch) { stream = better }
        do throws(ALSAError) {
            return try stream.write(UnsafeBufferPointer(frame)).map { Instant(nanoseconds: $0.wholeNanoseconds) }
        } catch {
            throw AudioDeviceError(error, part: "speaker")
        }
    }
}

extension AudioDeviceError {
    /// - Parameter part: the key of [sound] that names the card.
    fileprivate init(_ error: ALSAError, part: String) {
        let reason: Reason =
            switch error.reason {
            case .absent: .absent
            case .busy: .busy
            case .notPermitted: .notPermitted
            case .unsupported: .unsupported
            case .lost: .lost
            }
        self.init(reason, "The \(part) ([sound] \(part)) cannot be used: \(error)")
    }
}
