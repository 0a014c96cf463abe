/// What the program is asked to do. Pure: arguments in, an invocation out.
enum Invocation: Equatable, Sendable {
    /// Serve presses until told to end.
    case run(config: String, events: String?)
    /// Read the config and say what is wrong with it.
    case check(config: String)
    /// Set the mute LED to muted and leave.
    case ledMuted(config: String)
    case version
    case help

    /// What cannot be understood, as a sentence.
    struct Misunderstood: Error, Equatable, CustomStringConvertible {
        var description: String
    }

    static let usage = """
        Usage:
          talkpost run --config FILE [--events FILE]   serve presses; q, SIGINT or SIGTERM end it
          talkpost check --config FILE                 read the config and say what is wrong with it
          talkpost led-muted --config FILE             set the mute LED to muted and leave it so, and after a crash of the service
                                               switch a managed microphone off: for a unit's ExecStopPost=
          talkpost --version                           versions of the program and of its libraries
          talkpost --help                              this text

        --events writes what happens to FILE (- is standard output), one JSON object a line.
        Exit status: 0 after an orderly end, 1 where the config, the command line or a script's await failed.
        """

    /// - Parameter arguments: without the program's own name.
    init(_ arguments: [String]) throws(Misunderstood) {
        guard let command = arguments.first else {
            throw Misunderstood(description: "Nothing is asked for; talkpost --help says what there is.")
        }
        var rest = arguments.dropFirst()
        switch command {
        case "--version", "version": self = .version
        case "--help", "-h", "help": self = .help
        case "run": self = .run(config: try Self.option("--config", of: &rest), events: try Self.events(&rest))
        case "check": self = .check(config: try Self.option("--config", of: &rest))
        case "led-muted": self = .ledMuted(config: try Self.option("--config", of: &rest))
        default:
            let words = ["run", "check", "led-muted", "--version", "--help"]
            let guess = ConfigValue.nearest(to: command, among: words).map { "did you mean \($0)?" }
            let cure = guess ?? "talkpost --help says what there is."
            throw Misunderstood(description: "There is no command \(INILines.quoted(command)); \(cure)")
        }
        guard let extra = rest.first else { return }
        throw Misunderstood(
            description: "\(INILines.quoted(extra)) is not understood after \(command); see talkpost --help.")
    }

    private static func events(_ rest: inout ArraySlice<String>) throws(Misunderstood) -> String? {
        rest.contains { $0 == "--events" || $0.hasPrefix("--events=") } ? try option("--events", of: &rest) : nil
    }

    /// Takes an option with its value out of `rest`: "--name VALUE" or "--name=VALUE".
    private static func option(_ name: String, of rest: inout ArraySlice<String>) throws(Misunderstood) -> String {
        guard let index = rest.firstIndex(where: { $0 == name || $0.hasPrefix("\(name)=") }) else {
            throw Misunderstood(description: "\(name) FILE is missing.")
        }
        var value = String(rest[index].dropFirst(name.count + 1))
        if rest[index] == name {
            guard index + 1 < rest.endIndex else { throw Misunderstood(description: "\(name) needs a FILE after it.") }
            value = rest.remove(at: index + 1)
        }
        rest.remove(at: index)
        guard !value.isEmpty else { throw Misunderstood(description: "\(name) needs a FILE after it.") }
        return value
    }
}
