import Dispatch
import Hardware
import VoiceCore

/// Microphone and speaker as the config names them: cards or files, each by itself. Made once at start, on any thread.
struct SoundParts: Sendable {
    /// What the voices use.
    let device: any AudioDevice
    private let cards: ALSADevice

    init(_ sound: Configuration.Sound, meter: SoundMeter, log: Log) {
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
        cards = ALSADevice(microphone: microphone.card, speaker: speaker.card) { sentence in
            // The sound threads must not wait for the log.
            DispatchQueue.main.async { log.info(sentence) }
        }
        let files = WAVDevice(microphone: microphone.path, speaker: speaker.path)
        switch (microphone.card, speaker.card) {
        case (nil, nil): device = MeteredDevice(files, meter: meter)
        case (_?, _?): device = MeteredDevice(cards, meter: meter)
        case (_?, nil): device = MeteredDevice(SplitDevice(microphone: cards, speaker: files), meter: meter)
        case (nil, _?): device = MeteredDevice(SplitDevice(microphone: files, speaker: cards), meter: meter)
        }
    }

    /// What is wrong with the cards now, each as a sentence with its cure; empty: nothing. Does not wait.
    var problems: [String] { cards.problems }
}
