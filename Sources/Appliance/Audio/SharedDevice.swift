import Glibc
import VoiceCore

/// The sound device as voices and the appliance's own tones share it: hands every frame through, measures it, mixes tones into what
/// the speaker plays, and tells whether both work.
///
/// Made at start; used on a voice's own threads. It adds no delay and never allocates in a steady call. What it measures is the
/// provider's voice alone, before it is silenced or tones are added.
struct SharedDevice<Device: AudioDevice>: AudioDevice {
    private let device: Device
    private let bridge: SoundBridge
    private let slot: SpeakerSlot<Device.Playback>

    /// How long tones may take to let go of the device: a few frames, unless the card is stuck.
    private static var tonesLimit: Duration { .milliseconds(500) }

    /// - Parameter slot: the one that the tones' thread leaves its speaker in.
    init(_ device: Device, bridge: SoundBridge, slot: SpeakerSlot<Device.Playback> = SpeakerSlot()) {
        self.device = device
        self.bridge = bridge
        self.slot = slot
    }

    func openCapture() throws(AudioDeviceError) -> SharedCapture<Device.Capture> {
        bridge.turn { $0.takeMicrophone() }
        do {
            return SharedCapture(try device.openCapture(), bridge: bridge)
        } catch {
            bridge.turn { $0.refuseMicrophone() }
            bridge.startTones()
            throw error
        }
    }

    func activate(_ session: PBAudioSession) throws(AudioDeviceError) {
        try awaitTones { $0.takeSession() }
        do {
            try device.activate(session)
        } catch {
            leave()
            throw error
        }
    }

    func openPlayback() throws(AudioDeviceError) -> SharedPlayback<Device.Playback> {
        var link = DeviceLink(.speaker, bridge)
        do throws(AudioDeviceError) {
            try awaitTones { $0.takeSpeaker() }
            if let playback = slot.take() { return SharedPlayback(playback, bridge: bridge, link: link) }
            return SharedPlayback(try device.openPlayback(), bridge: bridge, link: link)
        } catch {
            link.fails()
            throw error
        }
    }

    func deactivate() {
        leave()
    }

    private func leave() {
        if bridge.turn({ $0.endVoice() }) {
            // What was handed over to a voice that did not fetch it.
            _ = slot.take()
            device.deactivate()
            bridge.turn { $0.voiceLeft() }
        }
        bridge.startTones()
    }

    private func awaitTones(_ isGranted: (inout SoundTurn) -> Bool) throws(AudioDeviceError) {
        let limit = Instant.now() + Self.tonesLimit
        while !bridge.turn(isGranted) {
            guard Instant.now() < limit else {
                throw AudioDeviceError(.busy, "A tone still holds the speaker: the sound card does not take it.")
            }
            usleep(1_000)
        }
    }
}

/// Whether one sound device of a voice works, told at each change.
private struct DeviceLink {
    private let part: SoundChange.Part
    private let bridge: SoundBridge
    private let call: Int
    private var works: Bool?
    /// Frames in a row that did not pass in time.
    private var missedCount = 0

    /// A stall of the machine is no loss: half a second of frames that are waited for 100 ms each.
    private static let missedLimit = 5

    init(_ part: SoundChange.Part, _ bridge: SoundBridge) {
        self.part = part
        self.bridge = bridge
        call = bridge.expectedCall
    }

    /// A frame passed, or did not within its time.
    mutating func passed(_ isInTime: Bool) {
        missedCount = isInTime ? 0 : missedCount + 1
        if isInTime { note(true) } else if missedCount >= Self.missedLimit { note(false) }
    }

    mutating func fails() { note(false) }

    private mutating func note(_ works: Bool) {
        guard works != self.works else { return }
        self.works = works
        bridge.tell(SoundChange(part: part, works: works, call: call))
    }
}

/// The microphone of one voice. Lives on the capture thread.
struct SharedCapture<Capture: AudioCapture>: AudioCapture {
    private let bridge: SoundBridge
    private var capture: Capture
    private var link: DeviceLink

    fileprivate init(_ capture: Capture, bridge: SoundBridge) {
        self.capture = capture
        self.bridge = bridge
        link = DeviceLink(.microphone, bridge)
    }

    mutating func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        do {
            let instant = try capture.read(into: frame)
            if instant != nil { bridge.meter.tookIn(frame) }
            link.passed(instant != nil)
            return instant
        } catch {
            link.fails()
            throw error
        }
    }
}

/// The speaker of one voice. Lives on the playback thread.
struct SharedPlayback<Playback: AudioPlayback>: AudioPlayback {
    private let bridge: SoundBridge
    private var playback: Playback
    private var link: DeviceLink

    fileprivate init(_ playback: Playback, bridge: SoundBridge, link: DeviceLink) {
        self.playback = playback
        self.bridge = bridge
        self.link = link
    }

    mutating func awaitRoom() throws(AudioDeviceError) {
        do {
            try playback.awaitRoom()
        } catch {
            link.fails()
            throw error
        }
    }

    mutating func write(_ frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        let heard = SoundMeter.Loudness(of: UnsafeBufferPointer(frame))
        bridge.shape(frame, isQuiet: !heard.isSpeech)
        do {
            let instant = try playback.write(frame)
            link.passed(instant != nil)
            if let instant { bridge.meter.played(heard, at: instant) }
            return instant
        } catch {
            link.fails()
            throw error
        }
    }
}
