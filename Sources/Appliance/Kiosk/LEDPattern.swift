import Hardware

/// What the mute LED says: whether the microphone is heard, and what else there is to know.
///
/// It follows the microphone's gate, never the wish. Dark for long means heard, lit for long means not; what else there is to know is
/// told by flicks, which are of the other kind and too short to be taken for it.
struct LEDPattern: Hashable, Sendable {
    enum Notice: Hashable, Sendable {
        /// The way to the provider is being made, or made again.
        case connecting
        /// Something does not work.
        case fault(Fault)
    }

    /// Whether the microphone is heard, or what it hears is kept to be sent.
    var isHeard: Bool
    var notice: Notice?

    static let muted = LEDPattern(isHeard: false)
    static let open = LEDPattern(isHeard: true)
    static let connecting = LEDPattern(isHeard: false, notice: .connecting)
    /// A fault in which nobody is heard.
    static func fault(_ fault: Fault) -> LEDPattern { LEDPattern(isHeard: false, notice: .fault(fault)) }

    static let all: [LEDPattern] = [true, false].flatMap { isHeard in
        let notices: [Notice?] = [nil, .connecting] + Fault.allCases.map(Notice.fault)
        return notices.map { LEDPattern(isHeard: isHeard, notice: $0) }
    }

    /// What is wrong, if anything is.
    var fault: Fault? {
        switch notice {
        case .fault(let fault): fault
        case .connecting, nil: nil
        }
    }

    /// In one word, for the events file.
    var word: String {
        switch notice {
        case .connecting: "connecting"
        case .fault: "fault"
        case nil: isHeard ? "open" : "muted"
        }
    }

    /// In words, for the terminal: a fault says which, and whether the microphone is heard is said where it is.
    var said: String {
        let said = fault?.rawValue ?? word
        return notice != nil && isHeard ? "open, \(said)" : said
    }

    /// How the mute LED shows it.
    var blink: BlinkPattern {
        guard let notice else { return isHeard ? .off : .on }
        // Lit, then the flick, and so on; where the microphone is heard it is the other way round: `BlinkPattern` begins with light.
        switch notice {
        // The flick comes first: a press is seen at once.
        case .connecting:
            return BlinkPattern(
                turns: isHeard ? [Self.flick, .milliseconds(400)] : [.zero, Self.flick, .milliseconds(400)])
        case .fault(let fault):
            let code = fault.code
            let turns: [Duration] =
                Self.flicks(code.place, after: Self.pause) + Self.flicks(code.detail, after: Self.gap)
            return BlinkPattern(turns: isHeard ? [.zero] + turns : turns)
        }
    }

    /// Long enough to be seen and counted, too short to be taken for a change of the microphone.
    private static let flick: Duration = .milliseconds(120)
    /// Between the flicks of one number, between the two numbers, and before it all begins again: each three times the one before.
    private static let rest: Duration = .milliseconds(250)
    private static let gap: Duration = .milliseconds(750)
    private static let pause: Duration = .milliseconds(2250)

    private static func flicks(_ count: Int, after first: Duration) -> [Duration] {
        (0..<count).flatMap { [$0 == 0 ? first : rest, flick] }
    }
}
