internal import CLinux
import Glibc
import VoiceCore

/// Lets tones be heard while no voice has the speaker: a thread that opens it, plays what waits, and lets it go again.
///
/// Started by the `SoundBridge` when there is something to play, and gone when that is over. A voice that wants the device takes it
/// over after the frame that is being played; what is left of the tone goes on in the voice's own frames.
enum ToneThread {
    /// What follows the last tone, so that a card that stops at once has played it.
    private static let silentFrameCount = 10

    /// What `SoundBridge` is made with.
    static func player<Device: AudioDevice>(
        _ device: Device, _ session: PBAudioSession
    ) -> @Sendable (SoundBridge) -> Void {
        { bridge in
            let body = Body {
                talkpost_name_thread("tp-tones")
                play(bridge, on: device, session)
            }
            var thread = pthread_t()
            let retained = Unmanaged.passRetained(body)
            let failure = pthread_create(&thread, nil, { Body.run($0) }, retained.toOpaque())
            guard failure == 0 else {
                retained.release()
                bridge.turn { $0.giveBack() }
                return
            }
            pthread_detach(thread)
        }
    }

    /// Plays until nothing is left or a voice wants the device, then gives it back. Blocks.
    static func play<Device: AudioDevice>(_ bridge: SoundBridge, on device: Device, _ session: PBAudioSession) {
        if !bridge.turn({ $0.isVoiceExpected }) {
            do throws(AudioDeviceError) {
                try device.activate(session)
                defer { device.deactivate() }
                try openAndPlay(bridge, on: device)
            } catch {
                // A device that cannot be had is the LED's and the next voice's to tell.
                bridge.forgetTones()
            }
        }
        bridge.turn { $0.giveBack() }
        bridge.startTones()
    }

    private static func openAndPlay<Device: AudioDevice>(
        _ bridge: SoundBridge, on device: Device
    ) throws(AudioDeviceError) {
        var playback = try device.openPlayback()
        let frame = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
        defer { frame.deallocate() }
        var silentFrames = 0
        var voiceWants = false
        while silentFrames < silentFrameCount, !voiceWants {
            try playback.awaitRoom()
            // Asked before the frame is made, so that the last one holds the end of a tone that was cut off.
            voiceWants = bridge.turn { $0.isVoiceExpected }
            silentFrames = bridge.fill(frame) ? 0 : silentFrames + 1
            _ = try playback.write(frame)
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
