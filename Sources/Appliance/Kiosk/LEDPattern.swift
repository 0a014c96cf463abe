import Hardware
import VoiceCore

/// What the mute LED says. It follows the microphone's gate, never the wish.
enum LEDPattern: Hashable, Sendable, CaseIterable {
    /// The microphone is not heard.
    case muted
    /// The microphone is heard, or what it hears is kept to be sent.
    case open
    /// The way to the provider is being made, or made again; the microphone is not heard.
    case connecting
    /// It did not work; the microphone is not heard.
    case fault(Fault)

    static let allCases: [LEDPattern] = [.muted, .open, .connecting] + Fault.allCases.map(LEDPattern.fault)

    /// In one word, for the terminal and the events file.
    var word: String {
        switch self {
        case .muted: "muted"
        case .open: "open"
        case .connecting: "connecting"
        case .fault: "fault"
        }
    }

    /// In words, for the terminal: a fault says which.
    var said: String {
        switch self {
        case .muted, .open, .connecting: word
        case .fault(let fault): "\(fault.rawValue) fault"
        }
    }

    /// How the mute LED shows it. Dark for long means that the microphone is heard, and nothing else does: what flickers is lit but for
    /// short flicks.
    var blink: BlinkPattern {
        switch self {
        case .muted: .on
        case .open: .off
        // Its flick comes first: a press is seen at once.
        case .connecting: BlinkPattern(turns: [.zero, Self.flick, .milliseconds(400)])
        case .fault(let fault):
            BlinkPattern(
                turns: [.milliseconds(1200), Self.flick]
                    + (1..<fault.flickCount).flatMap { _ in [.milliseconds(250), Self.flick] })
        }
    }

    /// Long enough to be seen and counted, too short to be taken for dark.
    private static let flick: Duration = .milliseconds(120)
}

/// What keeps a press from being served, or a voice from being heard: what an installer reads from the LED's flicks.
enum Fault: String, Hashable, Sendable, CaseIterable {
    /// There is no network: no interface is up with an address.
    case network
    /// The backend cannot be reached, or does not answer.
    case backend
    /// The backend answered, and said no.
    case refused
    /// The provider cannot be reached, was lost, or answered something unusable.
    case provider
    /// The microphone cannot be had, or was lost.
    case microphone
    /// The speaker or the sound session cannot be had.
    case speaker
    /// The config or a credential is not usable.
    case setup

    /// How often the LED flicks, and its tone beeps, before the pause. One flick would look like `connecting`.
    var flickCount: Int {
        switch self {
        case .network: 2
        case .backend: 3
        case .refused: 4
        case .provider: 5
        case .microphone: 6
        case .speaker: 7
        case .setup: 8
        }
    }

    /// For `systemctl status`.
    var sentence: String {
        switch self {
        case .network: "there is no network"
        case .backend: "the backend cannot be reached"
        case .refused: "the backend refused it"
        case .provider: "the provider cannot be reached or was lost"
        case .microphone: "the microphone cannot be used"
        case .speaker: "the speaker cannot be used"
        case .setup: "the config or a credential cannot be used"
        }
    }

    /// What kept a voice from being opened; nil: nothing did, it was given up.
    init?(_ error: PBVoiceError) {
        switch error.kind {
        case .microphoneDenied: self = .microphone
        case .audioSession: self = .speaker
        case .cancelled: return nil
        case .refused: self = (error.underlying as? BackendError).map { Fault($0.kind) } ?? .refused
        case .invalidAnswer, .unreachable, .providerError: self = .provider
        case .noNetwork: self = .network
        case .invalidConfiguration: self = .setup
        }
    }

    private init(_ kind: BackendError.Kind) {
        switch kind {
        case .invalidConfiguration, .credential: self = .setup
        case .dns, .unreachable, .tls, .timeout, .noAnswer: self = .backend
        case .refused: self = .refused
        case .invalidAnswer: self = .provider
        }
    }
}
