/// Who sets the sound device up and puts it back.
public enum PBAudioSession: String, Sendable {
    /// The voice sets it up for voice chat and on close puts everything back as it was.
    case managed
    /// The app set it up already and keeps it.
    case app
}
