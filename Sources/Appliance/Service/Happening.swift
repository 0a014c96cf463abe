import VoiceCore

/// Something that whoever watches the appliance may want to know: the events file, the terminal, a script that waits for it.
enum Happening: Equatable, Sendable {
    /// A press gets an answer from now on.
    case ready
    case button(isPressed: Bool)
    case state(PBVoiceState)
    /// The backend started this voice.
    case voice(id: String)
    case led(LEDPattern)
    /// An earcon is let be heard as soon as the speaker can be had.
    case tone(Earcon)
    /// The voice's microphone or speaker works from now on, or no longer does.
    case microphone(works: Bool)
    case speaker(works: Bool)
    /// The provider's voice sounds for the first time in this voice.
    case firstSound
    /// A line of the conversation begins, goes on or ends. Private: for whoever asked for captions alone.
    case line(VoiceLine)
    /// The voice is being closed.
    case closing(CloseReason)
    case level(SoundMeter.Reading)
    case error(code: String, message: String)
    /// The backend was told that the voice is over; nil: it did not say how long it was.
    case closed(id: String, seconds: Double?)
}

/// Whoever watches. Told on the main actor, in order; must not block.
@MainActor
protocol HappeningWatcher: AnyObject {
    func saw(_ happening: Happening, at instant: Instant)
}
