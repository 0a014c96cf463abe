import Hardware
import VoiceCore

/// What the installer chose, complete: every key that the config file left out has its default.
///
/// A value, made once at start by `ConfigReader`. It holds no secret: credentials are named here and read by the backend.
struct Configuration: Equatable, Sendable {
    /// The service that starts and ends voices; where credentials lie is not the config's to say.
    var backend = BackendSettings(url: "http://127.0.0.1:8080/voice/{chat}", chat: "lobby")
    var talk = Talk()
    var sound = Sound()
    var tones = Tones()
    var button = Button()
    var led = LED()
    var network = Network()
    var voice = Voice()
    var state = State()
    var captions = Captions()
    var log = Log()

    /// How the button, the microphone's gate and the voice belong together.
    struct Talk: Equatable, Sendable {
        var mode = TalkMode.auto
        var turns = TurnKind.provider
        /// How long the microphone stays open after the button was let go of.
        var releaseTail: Duration = .milliseconds(300)
        /// How long a voice stays open in which nobody says anything.
        var idleEnd: Duration = .seconds(30)
        /// How long the microphone may be open at a stretch.
        var transmitLimit: Duration = .seconds(120)
    }

    /// What the speaker says of the state.
    struct Tones: Equatable, Sendable {
        var earcons = EarconSource.synthesised
        /// A WAV file that is played at the start of each voice; nil: none.
        var notice: String?
        /// In percent of full scale.
        var volume = 50
    }

    struct Sound: Equatable, Sendable {
        var microphone = Microphone.wav("speech.wav")
        var speaker = Speaker.wav("out.wav")
        var session = PBAudioSession.managed
        /// What `.managed` sets the mixer to.
        var mixer = MixerSettings(
            speakerPercent: 80, microphonePercent: 80, outputs: ["Headset", "Handset", "Headphone", "Speaker"])
    }

    struct Button: Equatable, Sendable {
        var source = ButtonSource.keyboard
        /// The line's level while the button is pressed.
        var polarity = GPIOPolarity.low
        var bias = GPIOBias.pullUp
    }

    struct LED: Equatable, Sendable {
        var output = LEDOutput.terminal
        /// The line's level while the LED is lit.
        var polarity = GPIOPolarity.high
        var drive = GPIODrive.pushPull
    }

    struct Network: Equatable, Sendable {
        /// Names of the interfaces to use; empty: all that are up.
        var interfaces: [String] = []
        var offersLoopback = false
        /// URLs of STUN and TURN servers, each of which can be used.
        var iceServers: [String] = []
        /// The file with USER:PASSWORD for the TURN servers, named as the backend's credentials are.
        var turnCredential: String?
        /// An http URL without a path; nil: the backend's, where that is one.
        var proxy: String?
        /// The file with USER:PASSWORD for the proxy.
        var proxyCredential: String?
    }

    struct Voice: Equatable, Sendable {
        var bitsPerSecond = 32_000
        var encoderComplexity = 5
        var expectedLossPercent = 0
        /// The data channel's name; nil: there is none.
        var channel: String? = "oai-events"
    }

    struct State: Equatable, Sendable {
        /// Where what must outlive the program is kept; nil: where systemd says, see `StateDirectory`.
        var directory: String?
    }

    struct Captions: Equatable, Sendable {
        /// Where a screen on the box reads what is said; nil: nothing is offered.
        var socketPath: String?
    }

    struct Log: Equatable, Sendable {
        var target = LogTarget.auto
        var level = LogLevel.info
    }
}

/// Who finds out when the visitor has said what there is to say.
enum TurnKind: String, CaseIterable, Sendable {
    /// The provider, by listening.
    case provider
    /// The button: its release ends the visitor's turn.
    case button
}

/// What a press and a release mean.
enum TalkMode: String, CaseIterable, Sendable {
    /// Hold, in which a tap acts as toggle does.
    case auto
    /// The microphone is open while the button is held.
    case hold
    /// A press opens a voice and the microphone, the next one shuts the microphone and closes the voice.
    case toggle
    /// As toggle, and the microphone stays open however long nobody answers.
    case handsFree = "hands-free"
}

/// Where the earcons come from.
enum EarconSource: Equatable, Sendable {
    case synthesised
    case none
    /// WAV files in this directory, each named after its earcon.
    case directory(String)
}

enum Microphone: Equatable, Sendable {
    /// A WAV file, from its beginning at each voice.
    case wav(String)
    case card(CardName)
}

enum Speaker: Equatable, Sendable {
    /// Nothing is kept of what is played.
    case none
    /// A WAV file that is written anew for each voice; `{call}` in its name becomes 1, 2, …
    case wav(String)
    case card(CardName)
}

enum ButtonSource: Equatable, Sendable {
    case keyboard
    /// A file of steps, see `ButtonScript`.
    case script(String)
    case gpio(GPIOLineName)
}

enum LEDOutput: Equatable, Sendable {
    case terminal
    case none
    case gpio(GPIOLineName)
}

enum LogTarget: String, CaseIterable, Sendable {
    /// The journal where systemd started the program, else the console.
    case auto
    case journal
    case console
}

/// How much is logged; each level includes those before it.
enum LogLevel: String, CaseIterable, Sendable, Comparable {
    case error
    case warning
    case info
    case debug

    static func < (a: LogLevel, b: LogLevel) -> Bool { a.priority < b.priority }

    /// The priority that syslog and the journal know it by (RFC 5424 6.2.1).
    var priority: Int {
        switch self {
        case .error: 3
        case .warning: 4
        case .info: 6
        case .debug: 7
        }
    }
}
