import VoiceCore

/// The bridge between a sound device and the voices: hands every frame through and lets a `SoundMeter` measure it.
///
/// Made at start; used on a voice's own threads. It adds no delay, copies nothing and never allocates in a call.
struct MeteredDevice<Device: AudioDevice>: AudioDevice {
    private let device: Device
    private let meter: SoundMeter

    init(_ device: Device, meter: SoundMeter) {
        self.device = device
        self.meter = meter
    }

    func openCapture() throws(AudioDeviceError) -> MeteredCapture<Device.Capture> {
        MeteredCapture(meter: meter, capture: try device.openCapture())
    }

    func activate(_ session: PBAudioSession) throws(AudioDeviceError) {
        try device.activate(session)
    }

    func openPlayback() throws(AudioDeviceError) -> MeteredPlayback<Device.Playback> {
        MeteredPlayback(meter: meter, playback: try device.openPlayback())
    }

    func deactivate() {
        device.deactivate()
    }
}

/// A microphone whose level is measured. Lives on the capture thread.
struct MeteredCapture<Capture: AudioCapture>: AudioCapture {
    fileprivate let meter: SoundMeter
    fileprivate var capture: Capture

    mutating func read(into frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        guard let instant = try capture.read(into: frame) else { return nil }
        meter.tookIn(frame)
        return instant
    }
}

/// A speaker whose level is measured. Lives on the playback thread.
struct MeteredPlayback<Playback: AudioPlayback>: AudioPlayback {
    fileprivate let meter: SoundMeter
    fileprivate var playback: Playback

    mutating func awaitRoom() throws(AudioDeviceError) {
        try playback.awaitRoom()
    }

    mutating func write(_ frame: UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant? {
        guard let instant = try playback.write(frame) else { return nil }
        meter.played(UnsafeBufferPointer(frame), at: instant)
        return instant
    }
}
