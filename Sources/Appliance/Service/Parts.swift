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
    /// Listens in on `device`.
    let meter = SoundMeter()
    /// Those parts that want to know what happens.
    let watchers: [any HappeningWatcher]

    private let script: ScriptedButton?
    private let keyboard: KeyboardButton?
    private let terminal: TerminalLED?
    private var steps: Task<Void, Never>?

    /// A part that the config names cannot be made, and waiting would not help.
    struct Unusable: Error {
        /// For the console.
        var sentence: String
    }

    /// - Throws: `Unusable` where a file of the simulation is missing or wrong; the caller prints it and does not start.
    init(_ configuration: Configuration, console: Console) throws(Unusable) {
        var watchers: [any HappeningWatcher] = []
        switch configuration.button.source {
        case .keyboard:
            let keyboard = KeyboardButton()
            (button, self.keyboard, script) = (keyboard, keyboard, nil)
        case .script(let path):
            let script = ScriptedButton(try Self.script(path))
            watchers.append(script)
            (button, keyboard, self.script) = (script, nil, script)
        }
        switch configuration.led.output {
        case .terminal:
            let terminal = TerminalLED(console: console)
            watchers.append(terminal)
            (led, self.terminal) = (terminal, terminal)
        case .none: (led, terminal) = (DarkLED(), nil)
        }
        device = MeteredDevice(
            WAVDevice(microphone: configuration.sound.microphone, speaker: configuration.sound.speaker), meter: meter)
        self.watchers = watchers
    }

    /// Sets those parts going that go by themselves.
    func start() {
        guard let script else { return }
        steps = Task { await script.run() }
    }

    /// Gives back what was borrowed, such as the terminal.
    /// - Returns: what a part that was to do something could not do, as a sentence; nil where all went well.
    func finish() -> String? {
        steps?.cancel()
        keyboard?.restore()
        terminal?.clear()
        return script?.failure
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
