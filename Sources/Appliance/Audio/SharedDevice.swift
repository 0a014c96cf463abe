import Glibc
import VoiceCore

/// The sound device as voices and the appliance's own tones share it: hands every frame through, measures it, mixes tones into what
/// the speaker plays, and tells when the microphone delivers.
///
/// Made at start; used on a voice's own threads. It adds no delay and never allocates in a steady call. What it measures is the
/// provider's voice alone, before it is silenced or tones are added.
struct SharedDevice<Device: AudioDevice>: AudioDevice {
    private let device: Device
    private let bridge: SoundBridge

    /// How long tones may take to let go of the device: a few frames, unless the card is stuck.
    private static var tonesLimit: Duration { .milliseconds(500) }

    init(_ device: Device, bridge: SoundBridge) {
        self.device = device
        self.bridge = bridge
    }

    func openCapture() throws(AudioDeviceError) -> SharedCapture<Device.Capture> {
        let limit = Instant.now() + Self.tonesLimit
        while !bridge.turn({ $0.takeForVoice() }) {
            guard Instant.now() < limit else {
                throw AudioDeviceError(.busy, "A tone still holds the speaker: the sound card does not take it.")
            }
            usleep(1_000)
        }
        do {
            return SharedCapture(try device.openCapture(), bridge: bridge)
        } catch {
            bridge.turn { $0.refuseVoice() }
            bridge.startTones()
            throw error
        }
    }

    func activate(_ session: PBAudioSession) throws(AudioDeviceError) {
        do {
            try device.activate(session)
            bridge.turn { $0.activate() }
        } catch {
            bridge.turn { $0.giveBack() }
            bridge.startTones()
            throw error
        }
    }

    func openPlayback() throws(AudioDeviceError) -> SharedPlayback<Device.Playback> {
        SharedPlayback(bridge: bridge, playback: try device.openPlayback())
    }

    func deactivate() {
        device.deactivate()
        bridge.turn { $0.giveBack() }
        bridge.startTones()
    }
}

/// The microphone of one voice. Lives on the capture thread.
final class SharedCapture<Capture: AudioCapture>: AudioCapture {
    private let bridge: SoundBridge
    private var capture: Capture
    private var delivers = false
    /// Reads in a row in which nothing came in time.
    private var missedCount = 0

    /// A stall of the machine is no loss: half a second of reads that wait 100 ms each.
    private static var missedLimit: Int { 5 }

    fileprivate init(_ capture: Capture, bridge: SoundBridge) {
        self.capture = capture
        self.bridge = bridge
    }

    deinit {
        if delivers { bridge.microphone(delivers: false) }
    }

    func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        do {
            guard let instant = try capture.read(into: frame) else {
                missedCount += 1
                if missedCount >= Self.missedLimit { note(false) }
                return nil
            }
            missedCount = 0
            bridge.meter.tookIn(frame)
            note(true)
            return instant
        } catch {
            note(false)
            throw error
        }
    }

    private func note(_ delivers: Bool) {
        guard delivers != self.delivers else { return }
        self.delivers = delivers
        bridge.microphone(delivers: delivers)
    }
}

/// The speaker of one voice. Lives on the playback thread.
struct SharedPlayback<Playback: AudioPlayback>: AudioPlayback {
    fileprivate let bridge: SoundBridge
    fileprivate var playback: Playback

    mutating func awaitRoom() throws(AudioDeviceError) {
        try playback.awaitRoom()
    }

    mutating func write(_ frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        let heard = SoundMeter.Loudness(of: UnsafeBufferPointer(frame))
        bridge.shape(frame, isQuiet: !heard.isSpeech)
        guard let instant = try playback.write(frame) else { return nil }
        bridge.meter.played(heard, at: instant)
        return instant
    }
}
