import Synchronization

/// The mixers of the cards that the config names, for `.managed` voices. From any thread: a lock lets in one at a time.
///
/// It is asked for only under `.managed`; under `.app` no mixer value is ever touched.
public final class SoundMixer: Sendable {
    private let microphone: CardName?
    private let speaker: CardName?
    private let session: Mutex<MixerSession<MixerCard>>

    /// - Parameters:
    ///   - microphone: nil: no microphone of a card is used.
    ///   - speaker: the same.
    ///   - stateDirectory: where the values to put back are kept; must be there.
    public init(microphone: CardName?, speaker: CardName?, settings: MixerSettings, stateDirectory: String) {
        self.microphone = microphone
        self.speaker = speaker
        session = Mutex(
            MixerSession(settings, file: SavedMixerFile(directory: stateDirectory)) { (cardID) throws(ALSAError) in
                try MixerCard(cardID: cardID)
            })
    }

    /// Sets the mixers up, for a voice or for a tone without one.
    /// - Parameter microphone: false: nothing of the microphone is touched.
    /// - Returns: sentences for the log.
    public func take(microphone: Bool) -> [String] {
        let uses = uses
        return session.withLock { $0.take(uses, for: microphone ? .voice : .tone) }
    }

    /// Sets a card up that came back, where the mixers are taken.
    public func takeAgain() -> [String] {
        let uses = uses
        return session.withLock { $0.user == .nobody ? [] : $0.take(uses, for: $0.user) }
    }

    /// Follows a jack. Cheap where nothing changed: it neither waits nor allocates.
    public func follow() -> [String] {
        session.withLock { $0.follow() }
    }

    /// Puts every value back as it was before the voice.
    public func giveBack() -> [String] {
        session.withLock { $0.giveBack() }
    }

    /// At the program's start: puts back what a crash left, but for the microphone's switch, which stays off until the next voice.
    public func restoreAfterCrash() -> [String] {
        session.withLock { $0.restoreAfterCrash() }
    }

    /// Looks at the cards' controls and changes nothing: a press then finds ready in memory what its first tone needs.
    public func warm() {
        let uses = uses
        session.withLock { session in uses.forEach { session.look(at: $0) } }
    }

    /// After the program's crash, from another process: switches the microphone off.
    public func muteAfterCrash() -> [String] {
        let uses = uses
        return session.withLock { $0.muteAfterCrash(uses) }
    }

    /// The cards that the names mean now.
    private var uses: [MixerSession<MixerCard>.Use] {
        let cards = SoundCards.present()
        let capture = microphone.flatMap { try? cards.place(of: $0, for: .capture).cardID }
        let playback = speaker.flatMap { try? cards.place(of: $0, for: .playback).cardID }
        return Set([capture, playback].compactMap { $0 }).sorted().map { cardID in
            MixerSession<MixerCard>.Use(
                cardID: cardID,
                uses: MixerPlan.Uses(microphone: cardID == capture, speaker: cardID == playback))
        }
    }
}
