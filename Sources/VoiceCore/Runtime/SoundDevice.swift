/// The host's device with its own types out of sight: the sound threads reach it through closures made once.
///
/// The device lives in another module, so code that is generic over it would look types up at every frame. Each closure is called on
/// the thread that `AudioDevice` names for it, and allocates nothing of its own.
struct SoundDevice: Sendable {
    /// An open microphone: fills one frame, as `AudioCapture.read`. Letting go of it closes the microphone.
    typealias Microphone = (UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant?

    /// An open speaker, as `AudioPlayback`. Letting go of it closes the speaker.
    struct Speaker {
        let awaitRoom: () throws(AudioDeviceError) -> Void
        let write: (UnsafeMutableBufferPointer<Int16>) throws(AudioDeviceError) -> Instant?
    }

    let openMicrophone: @Sendable () throws(AudioDeviceError) -> Microphone
    let activate: @Sendable (PBAudioSession) throws(AudioDeviceError) -> Void
    let openSpeaker: @Sendable () throws(AudioDeviceError) -> Speaker
    let deactivate: @Sendable () -> Void

    init<Device: AudioDevice>(_ device: Device) {
        openMicrophone = { () throws(AudioDeviceError) in
            var capture = try device.openCapture()
            return { (frame) throws(AudioDeviceError) in try capture.read(into: frame) }
        }
        activate = { (session) throws(AudioDeviceError) in try device.activate(session) }
        openSpeaker = { () throws(AudioDeviceError) in
            var playback = try device.openPlayback()
            return Speaker(
                awaitRoom: { () throws(AudioDeviceError) in try playback.awaitRoom() },
                write: { (frame) throws(AudioDeviceError) in try playback.write(frame) })
        }
        deactivate = { device.deactivate() }
    }
}
