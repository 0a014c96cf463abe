internal import CLinux
import Glibc
import VoiceCore

/// Lets tones be heard while no voice has the speaker: a thread that opens it, plays what waits, and lets it go again.
///
/// Started by the `SoundBridge` when there is something to play, and gone when that is over. While a voice is being opened it keeps the
/// speaker for it, and leaves it in the `SpeakerSlot` when the voice asks; what is left of a tone goes on in the voice's frames.
enum ToneThread {
    /// What follows the last tone, so that a card that stops at once has played it.
    private static let silentFrameCount = 10
    /// That of a voice's sound threads: a tone is as short of time as they are.
    private static let priority: Int32 = 45

    /// What `SoundBridge` is made with.
    static func player<Device: AudioDevice>(
        _ device: Device, _ session: PBAudioSession, _ slot: SpeakerSlot<Device.Playback>
    ) -> @Sendable (SoundBridge) -> Void {
        { bridge in
            let body = Body {
                talkpost_name_thread("tp-tones")
                var parameters = sched_param(sched_priority: priority)
                // Where that is refused, a voice's threads say so; tones sound all the same.
                _ = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
                play(bridge, on: device, session, slot)
            }
            var thread = pthread_t()
            let retained = Unmanaged.passRetained(body)
            let failure = pthread_create(&thread, nil, { Body.run($0) }, retained.toOpaque())
            guard failure == 0 else {
                retained.release()
                bridge.turn { $0.tonesLeft() }
                return
            }
            pthread_detach(thread)
        }
    }

    /// Plays until nothing is left or the voice asks for the speaker. Blocks.
    static func play<Device: AudioDevice>(
        _ bridge: SoundBridge, on device: Device, _ session: PBAudioSession, _ slot: SpeakerSlot<Device.Playback>
    ) {
        var isRefused = false
        do throws(AudioDeviceError) {
            try device.activate(session)
            if try openAndPlay(bridge, on: device, slot) { return }
        } catch {
            // A device that cannot be had is the LED's and the voice's to tell; a voice that is expected plays what waits itself.
            bridge.forgetTones()
            isRefused = true
        }
        if bridge.turn({ $0.endTones() }) {
            device.deactivate()
            bridge.turn { $0.tonesLeft() }
        }
        // What came meanwhile; not again and again where the speaker cannot be had.
        if !isRefused || !bridge.turn({ $0.isVoiceExpected }) { bridge.startTones() }
    }

    /// - Returns: whether the speaker was handed over.
    private static func openAndPlay<Device: AudioDevice>(
        _ bridge: SoundBridge, on device: Device, _ slot: SpeakerSlot<Device.Playback>
    ) throws(AudioDeviceError) -> Bool {
        var playback = try device.openPlayback()
        let frame = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
        defer { frame.deallocate() }
        var silentFrames = 0
        while true {
            try playback.awaitRoom()
            // Asked before the frame is made, so that the last one holds the end of a tone that was cut off.
            let next = bridge.turn { $0.next(isQuiet: silentFrames >= silentFrameCount) }
            if next == .handOver {
                slot.put(playback)
                if bridge.turn({ $0.handOver() }) { return true }
                _ = slot.take()
            }
            silentFrames = bridge.fill(frame) ? 0 : silentFrames + 1
            _ = try playback.write(frame)
            if next == .end { return false }
        }
    }

    private final class Body: Sendable {
        private let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }

        static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
            return nil
        }
    }
}
