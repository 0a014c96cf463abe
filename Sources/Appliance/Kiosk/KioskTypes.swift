import VoiceCore

/// What happens to the kiosk.
enum KioskEvent: Equatable, Sendable {
    /// The talk button, debounced.
    case pressed
    case released
    /// The provider's voice was heard from the speaker.
    case heard
    /// Somebody spoke into the microphone.
    case spoken
    /// `Kiosk.deadline` has come.
    case timer
    /// The program is to end.
    case quit
    /// News of the voice that the effect `connect(call:)` with this number asked for.
    case voice(VoiceNews, call: Int)
}

/// What becomes of a voice that was asked for.
enum VoiceNews: Equatable, Sendable {
    /// `connect` returned, with the connection in this state.
    case opened(PBVoiceState)
    /// `connect` threw: there is no voice.
    case refused(Fault)
    /// Why its connection will be said to have failed in a moment.
    case trouble(Fault)
    /// The connection's state changed.
    case state(PBVoiceState)
    /// The provider says that its session can last until then.
    case expires(Instant)
    /// The provider's session is over, because no session lasts longer.
    case expired
    /// Its microphone delivers sound from now on, or no longer does.
    case microphone(Bool)
    /// Its speaker takes sound from now on, or no longer does.
    case speaker(Bool)
}

/// What the kiosk wants done, in this order.
enum KioskEffect: Equatable, Sendable {
    /// Open a voice; all news of it carries this number.
    case connect(call: Int, muted: Bool)
    /// Give up the `connect` that is under way.
    case cancelConnect
    /// Shut the microphone's gate of the voice that is open or being opened, or open it.
    case mute(Bool)
    /// Silence here what the provider is saying.
    case silence
    /// Close the voice that is open, and tell the backend.
    case close(CloseReason)
    case light(LEDPattern)
    /// Say it to the ear.
    case sound(Earcon)
    /// All is closed: the program can end.
    case finish
}

/// Why a voice is closed.
enum CloseReason: String, Equatable, Sendable, CaseIterable {
    /// Nobody said anything for the idle end.
    case idle
    /// The visitor ended it.
    case pressed
    /// The provider closed it.
    case ended
    /// The connection failed for good.
    case lost
    /// No session of the provider lasts longer: the next voice follows.
    case expired
    /// It did not come up in time.
    case neverConnected
    /// The program ends, or nobody wants it any more.
    case quit
}
