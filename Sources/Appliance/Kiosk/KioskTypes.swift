import VoiceCore

/// What happens to the kiosk.
enum KioskEvent: Equatable, Sendable {
    /// The talk button, debounced.
    case pressed
    case released
    /// The provider's voice was heard from the speaker.
    case heard
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
    case refused
    /// The connection's state changed.
    case state(PBVoiceState)
}

/// What the kiosk wants done, in this order.
enum KioskEffect: Equatable, Sendable {
    /// Open a voice; all news of it carries this number.
    case connect(call: Int)
    /// Give up the `connect` that is under way.
    case cancelConnect
    /// Shut the microphone's gate of the open voice, or open it.
    case mute(Bool)
    /// Close the voice that is open, and tell the backend.
    case close(CloseReason)
    case light(LEDPattern)
    /// All is closed: the program can end.
    case finish
}

/// Why a voice is closed.
enum CloseReason: String, Equatable, Sendable, CaseIterable {
    /// Nobody said anything for the idle end.
    case idle
    /// The provider closed it.
    case ended
    /// The connection failed for good.
    case lost
    /// It did not come up in time.
    case neverConnected
    /// The program ends, or nobody wants it any more.
    case quit
}

/// What the mute LED says. It follows the microphone's gate, never the wish.
enum LEDPattern: String, Equatable, Sendable, CaseIterable {
    /// The microphone is not heard.
    case muted
    /// The microphone is heard.
    case open
    /// The way to the provider is being made, or made again.
    case connecting
    /// It did not work; shown for a while.
    case fault
}
