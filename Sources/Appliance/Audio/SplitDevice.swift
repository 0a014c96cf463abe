import VoiceCore

/// The microphone of one sound device and the speaker of another, as one device.
struct SplitDevice<Microphone: AudioDevice, Speaker: AudioDevice>: AudioDevice {
    let microphone: Microphone
    let speaker: Speaker

    func openCapture() throws(AudioDeviceError) -> Microphone.Capture {
        try microphone.openCapture()
    }

    func activate(_ session: PBAudioSession) throws(AudioDeviceError) {
        try microphone.activate(session)
        do {
            try speaker.activate(session)
        } catch {
            microphone.deactivate()
            throw error
        }
    }

    func openPlayback() throws(AudioDeviceError) -> Speaker.Playback {
        try speaker.openPlayback()
    }

    func deactivate() {
        speaker.deactivate()
        microphone.deactivate()
    }
}
