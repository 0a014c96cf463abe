import Dispatch
import Glibc
import VoiceCore

func fail(_ message: String) -> Never {
    var bytes = Array("talkpost-provider: \(message)\n".utf8)
    _ = write(STDERR_FILENO, &bytes, bytes.count)
    exit(1)
}

/// What the event channel says first, as providers do.
let greeting = [
    #"{"type":"session.created","event_id":"event_1","session":{"type":"realtime","model":"talkpost-provider"}}"#,
    #"{"type":"session.updated","event_id":"event_2","session":{"type":"realtime","model":"talkpost-provider"}}"#,
]

func serve(_ options: Options) throws {
    guard let log = EventLog(path: options.events) else { fail("The file of --events cannot be written.") }
    let speech = try options.speech.map { try WAVReader.samples(ofFile: $0) }
    var configuration = VoiceConfiguration()
    configuration.offersLoopback = options.offersLoopback
    configuration.interfaces = options.interfaces
    let chosen = configuration
    let provider = Provider(options, speech: speech, log: log) { offer, device, onState in
        guard let offer else {
            let voice = try await OfferingVoice.offer(device: device, configuration: chosen, onState: onState)
            return AnsweredVoice(
                answer: voice.offer, accept: { try await voice.accept(answer: $0) }, close: { voice.close() })
        }
        let voice = try await AnsweringVoice.answer(
            offer: offer, device: device, configuration: chosen, greeting: greeting, onState: onState)
        AnsweringVoice.prepare(chosen)
        return AnsweredVoice(answer: voice.answer, close: { voice.close() })
    }
    AnsweringVoice.prepare(chosen)
    _ = Offer.read(Array(#"{"sdp":"v=0"}"#.utf8))  // the decoder's first use takes milliseconds
    let server = try HTTPServer(host: options.host, port: options.port) { provider.handle($0) }
    log.write(
        "listening", ["port": .number(Double(server.port))],
        "Listening on http://\(options.host):\(server.port)\(options.kind.path); end with ^C.")

    let sound = DispatchSource.makeTimerSource(queue: .main)
    sound.schedule(deadline: .now(), repeating: .milliseconds(100))
    sound.setEventHandler { provider.reportSound() }
    sound.resume()

    signal(SIGPIPE, SIG_IGN)
    let ends = [SIGTERM, SIGINT].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
        source.setEventHandler {
            provider.stop()
            server.stop()
            // The voices' threads say goodbye to their peers.
            // Not exit: it takes OpenSSL apart under the threads that still use it.
            DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(200)) { _exit(0) }
        }
        source.resume()
        return source
    }
    withExtendedLifetime((sound, ends)) { dispatchMain() }
}

do {
    switch try Options.read(Array(CommandLine.arguments.dropFirst())) {
    case .help: print(Options.help)
    case .serve(let options): try serve(options)
    }
} catch let mistake as Options.Mistake {
    fail(mistake.message)
} catch let error as WAVError {
    fail(error.message)
} catch let error as HTTPServer.Failed {
    fail(error.message)
} catch {
    fail("\(error)")
}
