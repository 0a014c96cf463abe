/// The steps of a button script, read whole. Pure: bytes in, steps out.
///
/// One step a line, `#` comments: `after SECONDS`, `press`, `release`, `await STATE [SECONDS]` and `quit`; the file's end is a
/// `quit` too.
struct ButtonScript: Equatable, Sendable {
    enum Step: Equatable, Sendable {
        case after(Duration)
        case press
        case release
        case await(Awaited, limit: Duration)
        case quit
    }

    /// What a script can wait for.
    enum Awaited: String, CaseIterable, Sendable {
        /// The appliance answers to presses.
        case ready
        /// A voice is being opened, or is open already.
        case connecting
        case connected
        /// The voice is closed.
        case closed
        /// Something went wrong since the last press, and was told.
        case error
        /// The LED says that the microphone is heard.
        case open
        /// The provider was heard in this voice.
        case firstSound = "first_sound"
    }

    var steps: [Step]

    static let byteLimit = 1 << 20
    /// How long a state is waited for where the script does not say.
    static let defaultLimit: Duration = .seconds(20)

    init(steps: [Step]) {
        self.steps = steps
    }

    /// - Throws: the first line that is no step.
    init(parsing bytes: [UInt8]) throws(ConfigProblem) {
        steps = []
        let lines = bytes.prefix(Self.byteLimit).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let text = String(decoding: line.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
            let words = text.split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
            guard !words.isEmpty else { continue }
            guard let step = Self.step(words) else {
                throw ConfigProblem(
                    line: index + 1, what: "\(INILines.quoted(PrintableText.of(text))) is no step",
                    cure: "the steps are after SECONDS, press, release, await STATE [SECONDS] and quit; "
                        + "a STATE is \(Awaited.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            steps.append(step)
        }
    }

    private static func step(_ words: [String]) -> Step? {
        switch (words[0], words.count) {
        case ("press", 1): return .press
        case ("release", 1): return .release
        case ("quit", 1): return .quit
        case ("after", 2): return seconds(words[1]).map(Step.after)
        case ("await", 2), ("await", 3):
            guard let state = Awaited(rawValue: words[1]) else { return nil }
            let limit = words.count == 3 ? seconds(words[2]) : defaultLimit
            return limit.map { .await(state, limit: $0) }
        default: return nil
        }
    }

    private static func seconds(_ word: String) -> Duration? {
        ConfigValue.duration("\(word) s")
    }
}
