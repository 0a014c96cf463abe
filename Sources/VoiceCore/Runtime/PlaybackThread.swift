internal import Glibc
import Synchronization

/// The playback thread: Opus to speaker. The sound card is its clock.
///
/// The speaker queue -> `Playout` (jitter buffer, decoder) -> ALSA write 10 ms; each frame really written goes with its play
/// time to the far-end queue. A local value of its thread; once it runs it does not allocate.
struct PlaybackThread: ~Copyable {
    private let runtime: VoiceRuntime
    private let pulse: Pulse
    private let device: SoundDevice
    private var speaker: SoundDevice.Speaker?
    private var playout: Playout
    private var delay = SoundDelay()
    private var loss = DeviceLoss("The speaker")
    private let frame = UnsafeMutableBufferPointer<Int16>.allocate(capacity: AudioFormat.frameSampleCount)
    private let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_500, alignment: 16)

    static func start(_ runtime: VoiceRuntime, device: SoundDevice) throws(SystemCallError) {
        runtime.playbackHasEnded.store(false, ordering: .releasing)
        do {
            try RealtimeThread.start("tp-playback", priority: .sound, onDiagnostic: runtime.diagnose) { pulse in
                do {
                    var thread = PlaybackThread(
                        runtime, pulse: pulse, device: device,
                        playout: try Playout(patience: runtime.isProvider ? .long : .short))
                    thread.loop()
                } catch {
                    runtime.events.push(
                        .error(PBVoiceError(.audioSession, "The voice cannot be heard: \(error)", underlying: error)))
                }
                runtime.playbackHasEnded.store(true, ordering: .releasing)
            }
        } catch {
            runtime.playbackHasEnded.store(true, ordering: .releasing)
            throw error
        }
    }

    /// The playout comes made: Swift 6.0.3 cannot compile an init that throws here.
    private init(
        _ runtime: VoiceRuntime, pulse: Pulse, device: SoundDevice, playout: consuming Playout
    ) {
        self.runtime = runtime
        self.pulse = pulse
        self.device = device
        self.playout = playout
    }

    deinit {
        frame.deallocate()
        payload.deallocate()
    }

    private mutating func loop() {
        while !runtime.isClosing.load(ordering: .acquiring) {
            pulse.beat(at: .now)
            awaitRoom()
            guard speaker != nil else {
                // Nobody hears it: it is not decoded, and old sound is not played once the speaker is back.
                while runtime.speaker.pop(into: payload) != nil {}
                continue
            }
            while let packet = runtime.speaker.pop(into: payload) {
                playout.insert(
                    payload: UnsafeRawBufferPointer(rebasing: payload[..<packet.byteCount]),
                    ssrc: packet.header.ssrc, sequenceNumber: packet.header.sequenceNumber,
                    timestamp: packet.header.timestamp, arrivedAt: packet.header.arrivedAt)
            }
            if runtime.isFlushWanted.exchange(false, ordering: .acquiring) { playout.flush() }
            let askedAt = Instant.now
            let kind = playout.next(into: frame, at: askedAt)
            write(kind, askedAt: askedAt)
        }
        if delay.count > 0 { runtime.diagnose(.speakerDelay(mean: delay.mean, jitterBuffer: delay.meanShare)) }
    }

    /// Waits until the speaker wants a frame, in the pace of frames while there is none.
    private mutating func awaitRoom() {
        do {
            if speaker == nil, loss.isDue(at: .now) {
                speaker = try device.openSpeaker()
                if let diagnostic = loss.opened() { runtime.diagnose(diagnostic) }
            }
            try speaker?.awaitRoom()
        } catch {
            lose(error)
        }
        if speaker == nil { usleep(10_000) }
    }

    private mutating func write(_ kind: PlayoutKind, askedAt: Instant) {
        do {
            if let playsAt = try speaker?.write(frame) {
                runtime.farEnd.push(playsAt, UnsafeRawBufferPointer(frame))
                if kind == .decoded {
                    let buffered = playout.statistics.delay
                    delay.add(buffered + (playsAt - askedAt), share: buffered)
                }
            }
        } catch {
            lose(error)
        }
    }

    private mutating func lose(_ error: AudioDeviceError) {
        speaker = nil
        playout.flush()
        if let diagnostic = loss.lost(error, at: .now) { runtime.diagnose(diagnostic) }
    }
}
