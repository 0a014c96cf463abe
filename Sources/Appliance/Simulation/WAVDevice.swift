import Synchronization
import VoiceCore

/// A sound device of files: its microphone is a WAV file, its speaker another, both at the pace of a real card.
///
/// Made at start on main, used by one voice at a time on that voice's threads. The microphone starts at the file's beginning in
/// each voice and is silent after its end.
final class WAVDevice: AudioDevice {
    private let microphonePath: String?
    private let speakerPath: String?
    /// The microphone's sound, once it could be read.
    private let speech: Mutex<WAVAudio?>
    private let callCount = Atomic(0)

    /// Reads the microphone's file now, so that no press waits for it; a file that is not there yet is asked for again at each
    /// voice.
    /// - Parameters:
    ///   - microphone: the path of the file that is spoken; nil: silence.
    ///   - speaker: the path of the file to write, see `path`; nil: what is played is kept nowhere.
    init(microphone: String?, speaker: String?) {
        microphonePath = microphone
        speakerPath = speaker
        speech = Mutex(microphone.flatMap { try? WAVAudio(file: $0) })
    }

    func openCapture() throws(AudioDeviceError) -> WAVCapture {
        guard let microphonePath else { return WAVCapture(WAVAudio(samples: []), start: Instant.now()) }
        if let known = speech.withLock({ $0 }) { return WAVCapture(known, start: Instant.now()) }
        do {
            let read = try WAVAudio(file: microphonePath)
            speech.withLock { $0 = read }
            return WAVCapture(read, start: Instant.now())
        } catch {
            throw AudioDeviceError(
                .absent,
                "The microphone's file \(microphonePath) cannot be used: \(error); name another in [sound] microphone.")
        }
    }

    func activate(_ session: PBAudioSession) throws(AudioDeviceError) {}

    func openPlayback() throws(AudioDeviceError) -> WAVPlayback {
        let call = callCount.add(1, ordering: .relaxed).newValue
        guard let speakerPath else { return WAVPlayback(nil, start: Instant.now()) }
        let path = Self.path(speakerPath, call: call)
        do {
            return WAVPlayback(try WAVWriter(path: path), start: Instant.now())
        } catch {
            throw AudioDeviceError(
                .absent, "The speaker's file \(path) cannot be written: \(error); name another in [sound] speaker.")
        }
    }

    func deactivate() {}

    /// The file of one voice: `{call}` becomes the voice's number.
    static func path(_ template: String, call: Int) -> String {
        template.filling("{call}", with: "\(call)")
    }
}

/// The microphone of one voice. Lives on the capture thread.
final class WAVCapture: AudioCapture {
    private let samples: [Int16]
    private var clock: FrameClock
    private var position = 0

    init(_ audio: WAVAudio, start: Instant) {
        samples = audio.samples
        clock = FrameClock(start: start)
        // The first frame is complete 10 ms after the microphone opened.
        clock.skip(1)
    }

    func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        let (due, missedFrames) = clock.wait()
        position = min(samples.count, position + Int(missedFrames) * frame.count)
        let count = min(frame.count, samples.count - position)
        for index in 0..<count { frame[index] = samples[position + index] }
        for index in count..<frame.count { frame[index] = 0 }
        position += count
        return due
    }
}

/// The speaker of one voice. Lives on the playback thread.
final class WAVPlayback: AudioPlayback {
    private let writer: WAVWriter?
    private var clock: FrameClock

    /// - Parameter writer: nil: what is played is kept nowhere.
    init(_ writer: WAVWriter?, start: Instant) {
        self.writer = writer
        clock = FrameClock(start: start)
    }

    func awaitRoom() throws(AudioDeviceError) {
        clock.sleepUntilDue()
    }

    func write(_ frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        let (due, missedFrames) = clock.wait()
        writer?.skip(sampleCount: Int(missedFrames) * frame.count)
        writer?.append(UnsafeBufferPointer(frame))
        return due
    }
}
