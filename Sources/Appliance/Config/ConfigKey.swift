import Hardware
import VoiceCore

/// One key that a config file may have: its name, what its value must be, and where the value goes.
struct ConfigKey: Sendable {
    let section: String
    let name: String
    /// What the value must be, to follow "it must be".
    let expectation: String
    /// Whether a value may be shown in a message: not where it could hold a secret.
    let showsValue: Bool
    /// Whether the key may stand without a value, which means its default.
    let mayBeEmpty: Bool
    /// What is wrong with a value that cannot be used, and the cure, where more can be said than what it must be.
    let explain: @Sendable (String) -> (what: String, cure: String)?
    /// Puts the value in its place; false where it is not what it must be.
    let store: @Sendable (String, inout Configuration) -> Bool

    /// Every key there is, in the order of the reference config.
    static let all: [ConfigKey] = backend + parts + network + last

    private static let parts: [ConfigKey] = [
        .choice("talk", "mode", \.talk.mode),
        .choice("talk", "turns", \.talk.turns),
        .duration("talk", "release_tail", .zero ... .seconds(5), "from 0 ms to 5 s", \.talk.releaseTail),
        .duration("talk", "idle_end", .seconds(1) ... .seconds(3600), "from 1 s to 60 min", \.talk.idleEnd),
        .duration(
            "talk", "transmit_limit", .seconds(10) ... .seconds(3600), "from 10 s to 60 min", \.talk.transmitLimit),

        ConfigKey(
            "sound", "microphone",
            "card: and auto or a card's id as in /proc/asound/cards, or wav: and the path of a WAV file"
        ) {
            if let card = card(in: $0) {
                $1.sound.microphone = .card(card)
                return true
            }
            guard let path = path(in: $0, after: "wav:") else { return false }
            $1.sound.microphone = .wav(path)
            return true
        },
        ConfigKey(
            "sound", "speaker",
            "none, card: and auto or a card's id as in /proc/asound/cards, or wav: and the path of a WAV file to write"
        ) {
            if let card = card(in: $0) {
                $1.sound.speaker = .card(card)
                return true
            }
            if $0 == "none" {
                $1.sound.speaker = .none
                return true
            }
            guard let path = path(in: $0, after: "wav:") else { return false }
            $1.sound.speaker = .wav(path)
            return true
        },
        ConfigKey("sound", "session", "managed or app") {
            guard let session = PBAudioSession(rawValue: $0) else { return false }
            $1.sound.session = session
            return true
        },
        .number("sound", "volume", 0...100, " percent", \.sound.mixer.speakerPercent),
        .number("sound", "microphone_volume", 0...100, " percent", \.sound.mixer.microphonePercent),
        ConfigKey("sound", "outputs", "names of outputs between commas, such as Headphone, Speaker") {
            let names = ConfigValue.list($0)
            // 44 bytes is the kernel's limit for a control's name (SNDRV_CTL_ELEM_ID_NAME_MAXLEN).
            guard (1...16).contains(names.count), names.allSatisfy({ (1...44).contains($0.utf8.count) }) else {
                return false
            }
            $1.sound.mixer.outputs = names
            return true
        },

        ConfigKey("tones", "earcons", "synthesised, none, or the path of a directory of WAV files, with a / in it") {
            switch $0 {
            case "synthesised": $1.tones.earcons = .synthesised
            case "none": $1.tones.earcons = .none
            default:
                guard $0.contains("/"), let path = path(in: $0, after: "") else { return false }
                $1.tones.earcons = .directory(path)
            }
            return true
        },
        ConfigKey("tones", "notice", "the path of a WAV file", mayBeEmpty: true) {
            guard let path = path(in: $0, after: "") else { return false }
            $1.tones.notice = path
            return true
        },
        .number("tones", "volume", 0...100, " percent", \.tones.volume),

        ConfigKey(
            "button", "source",
            "keyboard, gpio: and a line such as GPIO17 or gpiochip0:17, or script: and the path of a file of steps"
        ) {
            if $0 == "keyboard" {
                $1.button.source = .keyboard
                return true
            }
            if let line = gpioLine(in: $0) {
                $1.button.source = .gpio(line)
                return true
            }
            guard let path = path(in: $0, after: "script:") else { return false }
            $1.button.source = .script(path)
            return true
        },

        .choice("button", "active", \.button.polarity),
        .choice("button", "bias", \.button.bias),

        ConfigKey("led", "output", "terminal, none, or gpio: and a line such as GPIO27 or gpiochip0:27") {
            switch $0 {
            case "terminal": $1.led.output = .terminal
            case "none": $1.led.output = .none
            default:
                guard let line = gpioLine(in: $0) else { return false }
                $1.led.output = .gpio(line)
            }
            return true
        },
        .choice("led", "active", \.led.polarity),
        .choice("led", "drive", \.led.drive),

    ]

    private static let last: [ConfigKey] = [
        .number("voice", "bitrate", 6000...128_000, " bits per second", \.voice.bitsPerSecond),
        .number("voice", "complexity", 0...10, "", \.voice.encoderComplexity),
        .number("voice", "expected_loss", 0...100, " percent", \.voice.expectedLossPercent),
        ConfigKey("voice", "channel", "none, or a name of at most 256 bytes") {
            guard $0.utf8.count <= 256 else { return false }
            $1.voice.channel = $0 == "none" ? nil : $0
            return true
        },

        ConfigKey("state", "directory", "a folder's absolute path", mayBeEmpty: true) {
            // PATH_MAX (limits.h).
            guard $0.hasPrefix("/"), $0.utf8.count < 4096 else { return false }
            $1.state.directory = $0
            return true
        },

        ConfigKey("captions", "socket", "the absolute path of a socket, at most 107 letters", mayBeEmpty: true) {
            // sockaddr_un's sun_path with its end (unix(7)).
            guard $0.hasPrefix("/"), $0.utf8.count < 108 else { return false }
            $1.captions.socketPath = $0
            return true
        },

        .choice("log", "target", \.log.target),
        .choice("log", "level", \.log.level),
    ]

    init(
        _ section: String, _ name: String, _ expectation: String, showsValue: Bool = true, mayBeEmpty: Bool = false,
        explain: @escaping @Sendable (String) -> (what: String, cure: String)? = { _ in nil },
        store: @escaping @Sendable (String, inout Configuration) -> Bool
    ) {
        self.section = section
        self.name = name
        self.expectation = expectation
        self.showsValue = showsValue
        self.mayBeEmpty = mayBeEmpty
        self.explain = explain
        self.store = store
    }

    static func duration(
        _ section: String, _ name: String, _ range: ClosedRange<Duration>, _ rangeInWords: String,
        _ place: WritableKeyPath<Configuration, Duration> & Sendable
    ) -> ConfigKey {
        ConfigKey(section, name, "a time with its unit (ms, s or min), \(rangeInWords)") {
            guard let value = ConfigValue.duration($0), range.contains(value) else { return false }
            $1[keyPath: place] = value
            return true
        }
    }

    private static func number(
        _ section: String, _ name: String, _ range: ClosedRange<Int>, _ unit: String,
        _ place: WritableKeyPath<Configuration, Int> & Sendable
    ) -> ConfigKey {
        ConfigKey(section, name, "a whole number from \(range.lowerBound) to \(range.upperBound)\(unit)") {
            guard let value = ConfigValue.wholeNumber($0), range.contains(value) else { return false }
            $1[keyPath: place] = value
            return true
        }
    }

    static func choice<Choice: RawRepresentable<String> & CaseIterable & Sendable>(
        _ section: String, _ name: String, _ place: WritableKeyPath<Configuration, Choice> & Sendable
    ) -> ConfigKey {
        let words = Choice.allCases.map(\.rawValue)
        let last = words.last ?? ""
        let expectation = words.count > 1 ? "\(words.dropLast().joined(separator: ", ")) or \(last)" : last
        return ConfigKey(section, name, expectation) {
            guard let value = Choice(rawValue: $0) else { return false }
            $1[keyPath: place] = value
            return true
        }
    }

    private static func card(in value: String) -> CardName? {
        value.hasPrefix("card:") ? CardName(String(value.dropFirst(5).drop { $0 == " " })) : nil
    }

    static func path(in value: String, after prefix: String) -> String? {
        guard value.hasPrefix(prefix) else { return nil }
        let path = value.dropFirst(prefix.count).drop { $0 == " " }
        // PATH_MAX (limits.h).
        return (1..<4096).contains(path.utf8.count) ? String(path) : nil
    }

    private static func gpioLine(in value: String) -> GPIOLineName? {
        let prefix = "gpio:"
        guard value.hasPrefix(prefix) else { return nil }
        return GPIOLineName(String(value.dropFirst(prefix.count).drop { $0 == " " }))
    }
}
