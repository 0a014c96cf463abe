import Glibc
import Hardware
import VoiceCore

/// What the config names, made: the button, the LED and the sound device. Made once at start, on the main actor, where it lives.
///
/// The only place that knows which of them are real and which are simulated.
@MainActor
final class Parts {
    let button: any Hardware.Button
    let led: any Hardware.LED
    let device: any AudioDevice
    /// Those parts that want to know what happens.
    let watchers: [any HappeningWatcher]

    private let sound: SoundParts
    private let script: ScriptedButton?
    private let keyboard: KeyboardButton?
    private let terminal: TerminalLED?
    private let gpioButton: GPIOButton?
    private let gpioLED: GPIOLED?
    private var steps: Task<Void, Never>?

    /// A part that the config names cannot be made, and waiting would not help.
    struct Unusable: Error {
        /// For the console.
        var sentence: String
    }

    /// - Throws: `Unusable` where a file of the simulation is missing or wrong; the caller prints it and does not start.
    init(_ configuration: Configuration, console: Console, log: Log) throws(Unusable) {
        var watchers: [any HappeningWatcher] = []
        var script: ScriptedButton?
        var keyboard: KeyboardButton?
        var terminal: TerminalLED?
        var gpioButton: GPIOButton?
        var gpioLED: GPIOLED?
        switch configuration.button.source {
        case .keyboard:
            let made = KeyboardButton()
            keyboard = made
            button = made
        case .script(let path):
            let made = ScriptedButton(try Self.script(path))
            script = made
            button = made
            watchers.append(made)
        case .gpio(let line):
            let settings = configuration.button
            let made = GPIOButton(
                line: line, polarity: settings.polarity, bias: settings.bias)
            gpioButton = made
            button = made
        }
        switch configuration.led.output {
        case .terminal:
            let made = TerminalLED(console: console)
            terminal = made
            led = made
            watchers.append(made)
        case .none: led = DarkLED()
        case .gpio(let line):
            let settings = configuration.led
            let made = GPIOLED(
                line: line, polarity: settings.polarity, drive: settings.drive)
            gpioLED = made
            led = made
        }
        self.script = script
        self.keyboard = keyboard
        self.terminal = terminal
        self.gpioButton = gpioButton
        self.gpioLED = gpioLED
        sound = SoundParts(configuration, log: log)
        device = sound.device
        self.watchers = watchers
    }

    /// Sets those parts going that go by themselves.
    func start() {
        // The LED first: nobody should take a dark one for an open microphone.
        gpioLED?.start()
        gpioButton?.start()
        sound.start()
        guard let script else { return }
        steps = Task { await script.run() }
    }

    /// What lies between `device` and the voices.
    var bridge: SoundBridge { sound.bridge }

    /// Gives back what was borrowed, such as the terminal.
    /// - Returns: what a part that was to do something could not do, as a sentence; nil where all went well.
    func finish() -> String? {
        steps?.cancel()
        keyboard?.restore()
        terminal?.clear()
        gpioLED?.show(.on)
        return script?.failure
    }

    /// How each part is: what is wrong with it, where, and the cure.
    var looks: [(part: Health.Part, look: HealthWatch.Look)] {
        [
            (.button, { [gpioButton] in gpioButton?.problem.map { "The talk button: \($0)" } }),
            (.led, { [gpioLED] in gpioLED?.problem.map { "The mute LED: \($0)" } }),
            (.sound, { [sound] in sound.problem }),
        ]
    }

    private static func script(_ path: String) throws(Unusable) -> ButtonScript {
        guard let bytes = SmallFile.read(path, byteLimit: ButtonScript.byteLimit) else {
            let reason = String(cString: strerror(errno))
            throw Unusable(
                sentence: "\(path): the button script cannot be read: \(reason); name another in [button] source")
        }
        do throws(ConfigProblem) {
            return try ButtonScript(parsing: bytes)
        } catch {
            throw Unusable(sentence: error.described(inFile: path))
        }
    }
}

/// No LED at all.
@MainActor
private final class DarkLED: Hardware.LED {
    func show(_ pattern: BlinkPattern) {}
}
