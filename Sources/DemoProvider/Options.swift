/// What the command line asks for. Pure.
struct Options: Equatable {
    var host = "127.0.0.1"
    var port: UInt16 = 8080
    /// Whose manners the backend has.
    var kind = Kind.contract
    /// Where what each voice hears is recorded; `{call}` becomes 1, 2, ...
    var recording: String?
    /// How much quiet ends an utterance, which is then repeated.
    var repeatAfter = Duration.milliseconds(800)
    /// A WAV that each voice speaks from its start, instead of repeating.
    var speech: String?
    var offersLoopback = false
    var interfaces: Set<String>?
    var startFailure: Failure?
    var closeFailure: Failure?
    /// Where events go as JSON lines; "-" is standard output.
    var events: String?

    /// What is wrong with a command line: a sentence.
    struct Mistake: Error, Equatable {
        var message: String
    }

    enum Command: Equatable {
        case serve(Options)
        case help
    }

    /// Reads the arguments, the program's name left out.
    /// - Throws: the first mistake.
    static func read(_ arguments: [String]) throws(Mistake) -> Command {
        var options = Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            func value() throws(Mistake) -> String {
                guard let value = rest.popFirst() else { throw Mistake(message: "\(argument) lacks its value.") }
                return value
            }
            switch argument {
            case "--help", "-h": return .help
            case "--listen": try options.listen(at: try value())
            case "--kind":
                let name = try value()
                guard let kind = Kind(rawValue: name) else {
                    throw Mistake(message: "--kind takes contract, whip, pipecat or answer, not \"\(name)\".")
                }
                options.kind = kind
            case "--record": options.recording = try value()
            case "--repeat-after": options.repeatAfter = try seconds(try value(), argument)
            case "--speak": options.speech = try value()
            case "--loopback": options.offersLoopback = true
            case "--interfaces":
                options.interfaces = Set(try value().split(separator: ",").map { String($0) })
            case "--fail": options.startFailure = try failure(try value())
            case "--fail-close": options.closeFailure = try failure(try value())
            case "--events": options.events = try value()
            default: throw Mistake(message: "\(argument) is not known; see --help.")
            }
        }
        return .serve(options)
    }

    private mutating func listen(at text: String) throws(Mistake) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw Mistake(message: "--listen takes HOST:PORT, for example 127.0.0.1:8080, not \"\(text)\".")
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        self.host = host.isEmpty ? "0.0.0.0" : String(host)
        self.port = port
    }

    private static func seconds(_ text: String, _ argument: String) throws(Mistake) -> Duration {
        guard let seconds = Double(text), (0.1...30).contains(seconds) else {
            throw Mistake(message: "\(argument) takes seconds from 0.1 to 30, not \"\(text)\".")
        }
        return .milliseconds(Int64(seconds * 1000))
    }

    private static func failure(_ text: String) throws(Mistake) -> Failure {
        guard let failure = Failure(text) else {
            throw Mistake(message: "\"\(text)\" is no kind of failure; see --help.")
        }
        return failure
    }

    static let help = """
        talkpost-provider: a backend and a voice provider in one, for trying Talkpost without the internet.

          --listen HOST:PORT      where HTTP is served (127.0.0.1:8080; port 0: any that is free)
          --kind KIND             plays a backend of this kind: contract (the default), whip, pipecat, answer
          --record FILE           records what each voice hears; {call} in FILE becomes 1, 2, ...
          --repeat-after SECONDS  repeats each utterance after so much quiet (0.8)
          --speak WAV             speaks this from the start of each voice instead of repeating
          --loopback              offers 127.0.0.1 to peers as well
          --interfaces A,B        uses these network interfaces only
          --fail KIND             answers each start of a voice with a failure
          --fail-close KIND       answers each close of a voice with a failure
          --events FILE           writes events as JSON lines; - is standard output

        Routes of the kind contract: POST /voice/{chat} with {"sdp": OFFER} answers {"id": ID, "sdp": ANSWER};
        POST /voice/{chat}/{voice}/close answers {"seconds": N}. whip: POST /whip/{chat} with OFFER as application/sdp
        answers ANSWER and its Location, which DELETE closes, or POST to it with /hangup behind.
        pipecat: POST /api/offer with {"sdp": OFFER, "type": "offer"} answers {"sdp": ANSWER, "type", "pc_id": ID}.
        answer: POST /voice/{chat} answers {"id": ID, "sdp": OFFER}; POST /voice/{chat}/{voice}/answer takes {"sdp": ANSWER},
        and a close is the contract's.

        Kinds of failure:
        \(Failure.table.map { "  \($0.name.padded(to: 16))\($0.meaning)" }.joined(separator: "\n"))
        """
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
