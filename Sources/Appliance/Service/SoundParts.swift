import Dispatch
import Hardware
import VoiceCore

/// Microphone and speaker as the config names them: cards or files, each by itself. Made once at start, on any thread.
struct SoundParts: Sendable {
    /// What the voices use.
    let device: any AudioDevice
    /// What lies between the device and the voices.
    let bridge: SoundBridge
    private let cards: ALSADevice
    private let mixer: SoundMixer?
    private let hasCard: Bool
    private let report: @Sendable (String) -> Void

    init(_ configuration: Configuration, log: Log) {
        let sound = configuration.sound
        let microphone: (card: CardName?, path: String?)
        switch sound.microphone {
        case .wav(let path): microphone = (nil, path)
        case .card(let card): microphone = (card, nil)
        }
        let speaker: (card: CardName?, path: String?)
        switch sound.speaker {
        case .none: speaker = (nil, nil)
        case .wav(let path): speaker = (nil, path)
        case .card(let card): speaker = (card, nil)
        }
        hasCard = microphone.card != nil || speaker.card != nil
        let report = { @Sendable (sentence: String) in
            // The sound threads must not wait for the log.
            DispatchQueue.main.async { log.info(sentence) }
        }
        self.report = report
        mixer = Self.mixer(configuration, microphone: microphone.card, speaker: speaker.card)
        cards = ALSADevice(microphone: microphone.card, speaker: speaker.card, mixer: mixer, report: report)
        let files = WAVDevice(microphone: microphone.path, speaker: speaker.path)
        let earcons = Earcons(configuration.tones) { log.warning($0) }
        switch (microphone.card, speaker.card) {
        case (nil, nil): (device, bridge) = Self.files(files, earcons)
        case (_?, nil): (device, bridge) = Self.files(SplitDevice(microphone: cards, speaker: files), earcons)
        case (_?, _?): (device, bridge) = Self.card(cards, earcons, sound.session)
        case (nil, _?):
            (device, bridge) = Self.card(SplitDevice(microphone: files, speaker: cards), earcons, sound.session)
        }
    }

    /// Puts right what a crash left in the mixers, and makes ready what the first press would wait for; in the background.
    func start() {
        guard hasCard else { return }
        DispatchQueue.global().async { [mixer, report] in
            mixer?.restoreAfterCrash().forEach(report)
            PlaybackStream.warm()
            mixer?.warm()
        }
    }

    /// What a unit runs after its program crashed: under `managed` the microphone's switch is left off until the next voice.
    /// - Returns: what could not be done, as sentences.
    static func muteAfterCrash(_ configuration: Configuration) -> [String] {
        var microphone: CardName?
        if case .card(let card) = configuration.sound.microphone { microphone = card }
        return mixer(configuration, microphone: microphone, speaker: nil)?.muteAfterCrash() ?? []
    }

    /// - Returns: nil where no mixer value is ever to be touched.
    private static func mixer(
        _ configuration: Configuration, microphone: CardName?, speaker: CardName?
    ) -> SoundMixer? {
        guard configuration.sound.session == .managed, microphone != nil || speaker != nil else { return nil }
        return SoundMixer(
            microphone: microphone, speaker: speaker, settings: configuration.sound.mixer,
            stateDirectory: StateDirectory.path(configuration.state))
    }

    /// A speaker that writes files writes one for each voice: a tone without a voice has none.
    private static func files(_ device: some AudioDevice, _ earcons: Earcons) -> (any AudioDevice, SoundBridge) {
        let bridge = SoundBridge(earcons: earcons)
        return (SharedDevice(device, bridge: bridge), bridge)
    }

    private static func card<Device: AudioDevice>(
        _ device: Device, _ earcons: Earcons, _ session: PBAudioSession
    ) -> (any AudioDevice, SoundBridge) {
        let slot = SpeakerSlot<Device.Playback>()
        let bridge = SoundBridge(earcons: earcons, playTones: ToneThread.player(device, session, slot))
        return (SharedDevice(device, bridge: bridge, slot: slot), bridge)
    }

    /// What is wrong with the cards now, as sentences with their cures; nil: nothing. Does not wait.
    var problem: String? {
        let problems = cards.problems
        return problems.isEmpty ? nil : problems.joined(separator: " ")
    }
}
