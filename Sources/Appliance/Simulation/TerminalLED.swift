import Hardware
import VoiceCore

/// The mute LED drawn in the terminal, with the voice's state and the sound levels beside it, in one line that is drawn anew in
/// place. Where there is no terminal, each change of state or LED is a line. Lives on the main actor.
@MainActor
final class TerminalLED: LED, HappeningWatcher {
    private let console: Console
    private var shown = Picture()
    private var patternSince = Instant.now()
    private var lastLine = ""

    /// What the line says.
    struct Picture: Equatable {
        var state = "idle"
        var led = LEDPattern.muted
        var blink = BlinkPattern.off
        var levels: SoundMeter.Reading?
    }

    init(console: Console) {
        self.console = console
    }

    func show(_ pattern: BlinkPattern) {
        shown.blink = pattern
        patternSince = Instant.now()
    }

    func saw(_ happening: Happening, at instant: Instant) {
        switch happening {
        case .state(let state):
            shown.state = state.rawValue
            if state == .closed { shown.levels = nil }
        case .led(let pattern): shown.led = pattern
        case .level(let levels): shown.levels = levels
        case .ready: break
        case .button, .voice, .tone, .microphone, .speaker, .firstSound, .line, .closing, .error, .closed: return
        }
        guard !console.isTerminal else {
            console.draw(live: Self.line(shown, isLit: shown.blink.isLit(after: Instant.now() - patternSince)))
            return
        }
        if case .level = happening { return }
        let line = "state \(shown.state), LED \(shown.led.said)"
        if line != lastLine { console.write(line: line) }
        lastLine = line
    }

    /// Takes the line away, so that a shell's prompt finds an empty one.
    func clear() {
        console.draw(live: "")
    }

    /// The live line, at most 79 columns wide.
    nonisolated static func line(_ picture: Picture, isLit: Bool) -> String {
        let light = isLit ? "\u{1B}[31m●\u{1B}[0m" : "○"  // red (ECMA-48 8.3.117)
        let state = padded(picture.state, to: 12)
        let led = padded(picture.led.said, to: 18)
        guard let levels = picture.levels else { return "\(light) \(led) \(state)" }
        return "\(light) \(led) \(state) microphone \(bar(levels.microphoneDBFS)) speaker \(bar(levels.speakerDBFS))"
    }

    /// Twelve cells for the 60 dB below full scale.
    nonisolated static func bar(_ decibels: Double) -> String {
        let cellCount = 12
        let full = Int((min(0, max(-60, decibels)) + 60) / 60 * Double(cellCount))
        return String(repeating: "▮", count: full) + String(repeating: "·", count: cellCount - full)
    }

    nonisolated private static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
