/// Whose turn it is at the sound device: a voice's, the appliance's own tones', or nobody's. Pure.
///
/// A voice always comes first: once one is expected, tones leave and do not begin.
struct SoundTurn: Sendable {
    enum Holder: Equatable, Sendable {
        case nobody
        case tones
        /// A voice that has its microphone; `isActive`: and has set the session up.
        case voice(isActive: Bool)
    }

    private(set) var holder = Holder.nobody
    /// Whether a voice is being opened or open: it is given the tones.
    var isVoiceExpected = false

    /// - Returns: whether tones may sound now; they then hold the device.
    mutating func takeForTones() -> Bool {
        guard holder == .nobody, !isVoiceExpected else { return false }
        holder = .tones
        return true
    }

    /// - Returns: false where the tones have not let go yet: ask again.
    mutating func takeForVoice() -> Bool {
        switch holder {
        case .tones: return false
        case .nobody:
            holder = .voice(isActive: false)
            return true
        // It asks for its microphone again.
        case .voice: return true
        }
    }

    /// The session is set up for the voice.
    mutating func activate() {
        holder = .voice(isActive: true)
    }

    /// The voice did not get its microphone. One that is active keeps the device and asks again.
    mutating func refuseVoice() {
        if holder == .voice(isActive: false) { holder = .nobody }
    }

    mutating func giveBack() {
        holder = .nobody
    }
}
