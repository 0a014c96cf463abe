/// Whose turn it is at the sound device: a voice's, the appliance's own tones', or both while a voice is being opened. Pure.
///
/// A press is heard before its voice has the speaker: tones begin at once, and what they opened is handed over to the voice when it asks
/// for its speaker. The session is put back by whoever leaves last.
struct SoundTurn: Sendable {
    /// The tones' thread.
    enum Tones: Equatable, Sendable {
        case absent
        /// It has the speaker, or is opening it.
        case playing
        /// It is putting the device back.
        case leaving
    }

    enum Voice: Equatable, Sendable {
        case absent
        /// It has its microphone.
        case opening
        /// It has set the session up.
        case active
        /// It has asked for its speaker: tones are its own to play.
        case playing
        /// It is putting the device back.
        case leaving
    }

    /// What the tones' thread does before its next frame.
    enum Next: Equatable, Sendable {
        case play
        /// What is being heard ends, without a click, and then the device is put back.
        case end
        /// The voice waits for the speaker.
        case handOver
    }

    private(set) var tones = Tones.absent
    private(set) var voice = Voice.absent
    /// Whether a voice is being opened or open: the speaker is kept for it.
    var isVoiceExpected = false
    /// The program ends: no tone begins, and one that sounds ends.
    var isEnding = false

    var isFree: Bool { tones == .absent && voice == .absent }

    // MARK: Tones

    /// - Returns: whether tones may sound now; they then have the device.
    mutating func beginTones() -> Bool {
        guard !isEnding, tones == .absent else { return false }
        switch voice {
        case .playing, .leaving: return false
        case .absent, .opening, .active:
            tones = .playing
            return true
        }
    }

    /// - Parameter isQuiet: nothing is left to be heard.
    func next(isQuiet: Bool) -> Next {
        if isEnding { return .end }
        if voice == .playing { return .handOver }
        // For a voice that is being opened the speaker stays open.
        return isQuiet && !isVoiceExpected ? .end : .play
    }

    /// The speaker lies where the voice finds it.
    /// - Returns: false where the voice does not wait for it any more: play on.
    mutating func handOver() -> Bool {
        guard voice == .playing else { return false }
        tones = .absent
        return true
    }

    /// Tones have closed the speaker.
    /// - Returns: whether the device is to be put back now, then `tonesLeft`; else the voice does so.
    mutating func endTones() -> Bool {
        switch voice {
        case .active, .playing, .leaving:
            tones = .absent
            return false
        case .absent, .opening:
            tones = .leaving
            return true
        }
    }

    mutating func tonesLeft() { tones = .absent }

    // MARK: A voice

    /// It has its microphone.
    mutating func takeMicrophone() {
        // One that is active already has asked for it again.
        if voice == .absent { voice = .opening }
    }

    /// It did not get its microphone. One that is active keeps the device and asks again.
    mutating func refuseMicrophone() {
        if voice == .opening { voice = .absent }
    }

    /// - Returns: false where tones are just putting the device back: ask again.
    mutating func takeSession() -> Bool {
        guard tones != .leaving else { return false }
        voice = .active
        return true
    }

    /// - Returns: false where tones have not let go of the speaker yet: ask again.
    mutating func takeSpeaker() -> Bool {
        voice = .playing
        return tones == .absent
    }

    /// It has closed microphone and speaker.
    /// - Returns: whether the device is to be put back now, then `voiceLeft`; else the tones do so once they have ended.
    mutating func endVoice() -> Bool {
        guard tones == .absent else {
            voice = .absent
            return false
        }
        voice = .leaving
        return true
    }

    mutating func voiceLeft() { voice = .absent }
}
