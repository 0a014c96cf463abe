import Hardware

extension LEDPattern {
    /// How the mute LED shows it: lit means that the microphone is not heard.
    var blink: BlinkPattern {
        switch self {
        case .muted: .on
        case .open: .off
        case .connecting: BlinkPattern(turns: [.milliseconds(500), .milliseconds(500)])
        case .fault: BlinkPattern(turns: [.milliseconds(125), .milliseconds(125)])
        }
    }
}
