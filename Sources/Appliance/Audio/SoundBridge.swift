import Synchronization
import VoiceCore

/// What lies between the sound device and the voices, seen from main: it says what the speaker is to let be heard beside the
/// provider, whether microphone and speaker work, and how loud both are.
///
/// One for the whole program. Main calls it; `SharedDevice` and the tones' thread do the rest on their own threads.
final class SoundBridge: Sendable {
    let meter = SoundMeter()
    /// Told at each change: whether a voice's microphone or speaker works. Read by one reader.
    let changes: AsyncStream<SoundChange>
    private let change: AsyncStream<SoundChange>.Continuation
    /// The voice that is expected, or has the device.
    private let call = Atomic(0)
    private let earcons: Earcons
    private let speaker = Mutex(Speaker())
    private let turn = Mutex(SoundTurn())
    /// Plays what waits while no voice has the speaker; nil: it waits for the next voice.
    private let playTones: (@Sendable (SoundBridge) -> Void)?

    private struct Speaker {
        var mix = SpeakerMix()
        var silencer = SpeechSilencer()
        /// Whether tones go into the voice's frames.
        var isVoices = false
    }

    init(earcons: Earcons, playTones: (@Sendable (SoundBridge) -> Void)? = nil) {
        self.earcons = earcons
        self.playTones = playTones
        (changes, change) = AsyncStream.makeStream()
    }

    // MARK: On main

    /// A voice is about to be opened: whoever has the speaker until it does plays the notice and its tones, and leaves it to the voice.
    /// - Parameter call: what its changes are told under.
    func expectVoice(_ call: Int) {
        self.call.store(call, ordering: .relaxed)
        meter.startVoice()
        let tonesSound = turn.withLock {
            $0.isVoiceExpected = true
            return $0.tones == .playing
        }
        speaker.withLock {
            $0.silencer = SpeechSilencer()
            $0.isVoices = true
            if tonesSound { $0.mix.cut() } else { $0.mix.removeAll() }
            if let notice = earcons.notice { $0.mix.playNotice(notice) }
        }
    }

    /// The voice was closed, or could not be opened: what is to be heard from now on waits until it has let go of the device.
    func dismissVoice() {
        speaker.withLock {
            guard $0.isVoices else { return }
            $0.isVoices = false
            $0.mix.removeAll()
        }
        turn.withLock { $0.isVoiceExpected = false }
    }

    /// Lets an earcon be heard as soon as the speaker can be had.
    /// - Returns: false where there is none to be heard.
    @discardableResult
    func play(_ earcon: Earcon) -> Bool {
        guard let place = earcons.place(of: earcon) else { return false }
        speaker.withLock { $0.mix.play(place) }
        startTones()
        return true
    }

    /// Silences here what the provider is saying, until it pauses.
    func silenceSpeech() {
        speaker.withLock { $0.silencer.silence() }
    }

    /// Ends the program's sound: no tone begins, one that sounds ends, and whoever holds the device is waited for, so that it is put
    /// back as it was.
    func end(within limit: Duration) async {
        turn.withLock { $0.isEnding = true }
        let end = Instant.now() + limit
        while !turn({ $0.isFree }), Instant.now() < end {
            try? await Task.sleep(for: .milliseconds(5), clock: SuspendingClock())
        }
    }

    // MARK: On the threads of sound

    /// What a voice that opens the device now tells its changes under.
    var expectedCall: Int { call.load(ordering: .relaxed) }

    /// Microphone or speaker works, or no longer does. At a change only: this may allocate.
    func tell(_ change: SoundChange) {
        self.change.yield(change)
    }

    /// Gives a voice's frame the shape in which it is heard; never allocates.
    /// - Parameters:
    ///   - frame: 480 samples, mono, 48 kHz, Int16, changed in place.
    ///   - isQuiet: whether the provider says nothing in it.
    func shape(_ frame: UnsafeMutableBufferPointer<Int16>, isQuiet: Bool) {
        let lent = LentFrame(samples: frame)
        speaker.withLock { speaker in
            speaker.silencer.shape(lent.samples, isQuiet: isQuiet)
            guard speaker.isVoices else { return }
            earcons.samples.withUnsafeBufferPointer { speaker.mix.mix(into: lent.samples, from: $0) }
        }
    }

    /// Fills a frame with tones alone.
    /// - Parameter frame: 480 samples, mono, 48 kHz, Int16.
    /// - Returns: false where nothing is left to be heard after it.
    func fill(_ frame: UnsafeMutableBufferPointer<Int16>) -> Bool {
        frame.update(repeating: 0)
        let lent = LentFrame(samples: frame)
        return speaker.withLock { speaker in
            earcons.samples.withUnsafeBufferPointer { speaker.mix.mix(into: lent.samples, from: $0) }
            return !speaker.mix.isEmpty
        }
    }

    /// Reads or changes whose turn it is.
    func turn<Value: Sendable>(_ body: (inout SoundTurn) -> Value) -> Value {
        turn.withLock { body(&$0) }
    }

    /// The speaker cannot be had without a voice: nothing waits for it, unless a voice is expected.
    func forgetTones() {
        speaker.withLock { if !$0.isVoices { $0.mix.removeAll() } }
    }

    /// Lets what waits be heard, where no voice has the speaker.
    func startTones() {
        guard let playTones, speaker.withLock({ !$0.mix.isEmpty }), turn.withLock({ $0.beginTones() }) else { return }
        playTones(self)
    }
}

/// A sound device of a voice works from now on, or no longer does.
struct SoundChange: Equatable, Sendable {
    enum Part: Equatable, Sendable {
        case microphone
        case speaker
    }

    var part: Part
    var works: Bool
    /// The voice's number, as `SoundBridge.expectVoice` was given it.
    var call: Int
}

/// A frame on its way into the lock.
///
/// Sendable: it is used within the lock by the caller's own thread, and nothing keeps it.
private struct LentFrame: @unchecked Sendable {
    let samples: UnsafeMutableBufferPointer<Int16>
}
