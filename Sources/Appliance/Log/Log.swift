import Hardware
import VoiceCore

/// Where the appliance's sentences go: the journal or the console. Passed by value to whoever has something to say.
///
/// From any thread but the real-time ones: a line may wait for the console or the journal's socket.
struct Log: Sendable {
    /// Whoever takes a finished line: the console, the journal, or a test.
    ///
    /// `messageID`: what the journal's catalog knows the line by, where it has an entry for it.
    typealias Sink = @Sendable (_ level: LogLevel, _ sentence: String, _ messageID: String?) -> Void

    private let threshold: LogLevel
    private let sink: Sink

    init(_ threshold: LogLevel, to sink: @escaping Sink) {
        self.threshold = threshold
        self.sink = sink
    }

    /// The log that the config asks for.
    /// - Parameter isUnderSystemd: whether standard error is the journal's already.
    init(_ configuration: Configuration.Log, console: Console, isUnderSystemd: Bool) {
        let toJournal =
            switch configuration.target {
            case .auto: isUnderSystemd
            case .journal: true
            case .console: false
            }
        threshold = configuration.level
        if toJournal {
            sink = { Journal.send($1, priority: $0.priority, messageID: $2) }
        } else {
            sink = { level, sentence, _ in console.write(line: level < .info ? "\(level): \(sentence)" : sentence) }
        }
    }

    func error(_ sentence: @autoclosure () -> String) { write(.error, sentence) }
    func warning(_ sentence: @autoclosure () -> String) { write(.warning, sentence) }
    func info(_ sentence: @autoclosure () -> String) { write(.info, sentence) }
    func debug(_ sentence: @autoclosure () -> String) { write(.debug, sentence) }

    /// What the LED shows from now on, under the fault's MESSAGE_ID; what exactly went wrong is said in a line of its own.
    func fault(_ fault: Fault) {
        write(
            .warning, { "Fault \(fault.printedCode), \(fault.rawValue): \(fault.sentence)." },
            messageID: fault.messageID)
    }

    private func write(_ level: LogLevel, _ sentence: () -> String, messageID: String? = nil) {
        guard level <= threshold else { return }
        sink(level, PrintableText.of(sentence()), messageID)
    }
}

/// Text from a provider or a backend made safe for a terminal and a journal: no control characters, and an end.
enum PrintableText {
    /// Longer than any sentence of ours; a provider's error message may be a page.
    private static let byteLimit = 2000

    static func of(_ text: String) -> String {
        guard text.utf8.count > byteLimit || text.unicodeScalars.contains(where: isControl) else { return text }
        var kept = String.UnicodeScalarView()
        var byteCount = 0
        for scalar in text.unicodeScalars {
            byteCount += UTF8.width(scalar)
            guard byteCount <= byteLimit else { return String(kept) + "…" }
            kept.append(isControl(scalar) ? " " : scalar)
        }
        return String(kept)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
    }
}
