import Synchronization
import VoiceCore

/// A sound device without a clock: it keeps what is played, and what was done with it.
final class FakeDevice: AudioDevice {
    struct Diary {
        var steps: [String] = []
        var played: [Int16] = []
    }

    let refusal: AudioDeviceError?
    private let diary = Mutex(Diary())
    /// Called after each frame that is played, with the count of them.
    private let onPlayed: @Sendable (Int) -> Void

    init(refusal: AudioDeviceError? = nil, onPlayed: @escaping @Sendable (Int) -> Void = { _ in }) {
        self.refusal = refusal
        self.onPlayed = onPlayed
    }

    var steps: [String] { diary.withLock { $0.steps } }
    var played: [Int16] { diary.withLock { $0.played } }

    fileprivate func note(_ step: String) {
        diary.withLock { $0.steps.append(step) }
    }

    fileprivate func play(_ samples: [Int16]) {
        let count = diary.withLock {
            $0.played += samples
            return $0.played.count / 480
        }
        onPlayed(count)
    }

    func openCapture() throws(AudioDeviceError) -> Capture {
        if let refusal { throw refusal }
        note("capture opened")
        return Capture()
    }

    func activate(_ session: PBAudioSession) throws(AudioDeviceError) { note("activated") }

    func openPlayback() throws(AudioDeviceError) -> Playback {
        if let refusal { throw refusal }
        note("playback opened")
        return Playback(self)
    }

    func deactivate() { note("deactivated") }

    final class Capture: AudioCapture {
        private var frameCount = 0

        /// Frames, but for the 3rd and the 5th to 10th, which do not come in time, until at the 12th it is lost.
        func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
            frameCount += 1
            switch frameCount {
            case 1, 2, 4, 11: return Instant(nanoseconds: 1)
            case ..<11: return nil
            default: throw AudioDeviceError(.lost, "It was unplugged.")
            }
        }
    }

    final class Playback: AudioPlayback {
        private let device: FakeDevice

        fileprivate init(_ device: FakeDevice) {
            self.device = device
        }

        deinit {
            device.note("playback closed")
        }

        func write(_ frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
            device.play(Array(frame))
            return Instant(nanoseconds: 1)
        }
    }
}
