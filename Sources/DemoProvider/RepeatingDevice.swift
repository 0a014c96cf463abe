import Glibc
import Synchronization
import VoiceCore

/// The sound device of one of the provider's voices: its speaker records and listens, its microphone repeats or speaks.
///
/// Paced by CLOCK_MONOTONIC, 10 ms a step. Reads and writes take nothing from the heap.
final class RepeatingDevice: AudioDevice {
    struct Event: Sendable, Equatable {
        var at: Instant
        var kind: Repeater.Event
    }

    private struct State: ~Copyable {
        var repeater: Repeater
        var recorder: WAVRecorder?
        var events: [Event]

        mutating func note(_ kind: Repeater.Event, at instant: Instant) {
            if events.count < events.capacity { events.append(Event(at: instant, kind: kind)) }
        }
    }

    /// More than this many events between two `takeEvents` are lost.
    private static let eventLimit = 64

    private let state: Mutex<State>
    /// What is spoken from the start instead of repeating: mono, 48 kHz.
    private let speech: [Int16]?

    /// - Parameters:
    ///   - recording: the WAV file to be written; nil: none.
    /// - Throws: where the file cannot be written.
    init(repeatAfter: Duration, speech: [Int16]?, recording: String?) throws(WAVError) {
        self.speech = speech
        let recorder = try recording.map { path throws(WAVError) in try WAVRecorder(path: path) }
        let frames = Int(clamping: repeatAfter.wholeNanoseconds / 10_000_000)
        var events: [Event] = []
        events.reserveCapacity(Self.eventLimit)
        state = Mutex(State(repeater: Repeater(quietFrameLimit: frames), recorder: recorder, events: events))
    }

    func openCapture() -> Microphone { Microphone(device: self) }

    func activate(_ session: PBAudioSession) {}

    func openPlayback() -> Speaker { Speaker(device: self) }

    func deactivate() { finish() }

    /// Writes out what is recorded so far; more may follow.
    func finish() {
        state.withLock { $0.recorder?.flush() }
    }

    /// What happened since the last call.
    func takeEvents() -> [Event] {
        state.withLock {
            guard !$0.events.isEmpty else { return [] }
            let events = Array($0.events)
            $0.events.removeAll(keepingCapacity: true)
            return events
        }
    }

    struct Microphone: AudioCapture {
        fileprivate let device: RepeatingDevice
        private var pace = Pace()
        private var spokenCount = 0

        fileprivate init(device: RepeatingDevice) {
            self.device = device
        }

        mutating func read(into frame: UnsafeMutableBufferPointer<Int16>) -> Instant? {
            let instant = pace.wait(isCapture: true)
            guard let speech = device.speech else {
                device.speak(into: frame, at: instant)
                return instant
            }
            for index in 0..<frame.count {
                frame[index] = spokenCount < speech.count ? speech[spokenCount] : 0
                spokenCount += 1
            }
            return instant
        }
    }

    struct Speaker: AudioPlayback {
        fileprivate let device: RepeatingDevice
        private var pace = Pace()

        fileprivate init(device: RepeatingDevice) {
            self.device = device
        }

        mutating func write(_ frame: UnsafeMutableBufferPointer<Int16>) -> Instant? {
            let instant = pace.wait(isCapture: false)
            device.hear(UnsafeBufferPointer(frame), at: instant)
            return instant
        }
    }

    fileprivate func speak(into frame: UnsafeMutableBufferPointer<Int16>, at instant: Instant) {
        let lent = Lent(frame: frame)
        state.withLock {
            if let kind = $0.repeater.speak(into: lent.frame) { $0.note(kind, at: instant) }
        }
    }

    fileprivate func hear(_ frame: UnsafeBufferPointer<Int16>, at instant: Instant) {
        let lent = Lent(frame: frame)
        state.withLock {
            $0.recorder?.write(lent.frame)
            if let kind = $0.repeater.hear(lent.frame), speech == nil { $0.note(kind, at: instant) }
        }
    }
}

/// A frame's buffer on its way into the lock.
///
/// Sendable: it is read or filled within the lock by the caller's own thread, and nothing keeps it.
private struct Lent<Frame>: @unchecked Sendable {
    let frame: Frame
}

/// Lets one turn pass each 10 ms of CLOCK_MONOTONIC. One thread's.
private struct Pace {
    private static let step = Duration.milliseconds(10)
    private var next: Instant?

    /// Sleeps until the next step is due; one who comes more than 100 ms late begins anew.
    /// - Parameter isCapture: whether the first step takes its 10 ms, as a microphone's does.
    mutating func wait(isCapture: Bool) -> Instant {
        let now = Instant.now()
        var due = next ?? (isCapture ? now + Self.step : now)
        if now - due > .milliseconds(100) { due = now }
        var time = timespec(
            tv_sec: Int(due.nanoseconds / 1_000_000_000), tv_nsec: Int(due.nanoseconds % 1_000_000_000))
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
        next = due + Self.step
        return due
    }
}
