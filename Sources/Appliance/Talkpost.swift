import Dispatch
import Glibc
import Hardware
import VoiceCore

/// The program `talkpost`: reads its command line and its config, puts the parts together and lets the service run.
@main
@MainActor
struct Talkpost {
    private let console = Console()

    static func main() async {
        let status = await Talkpost().perform(Array(CommandLine.arguments.dropFirst()))
        // Not exit: it takes OpenSSL apart under the threads that still use it (the next voice's key is being made).
        fflush(nil)
        _exit(status)
    }

    /// - Returns: the exit status.
    private func perform(_ arguments: [String]) async -> Int32 {
        do throws(Invocation.Misunderstood) {
            switch try Invocation(arguments) {
            case .help: print(Invocation.usage)
            case .version: print(Versions.text)
            case .check(let path):
                guard configuration(path) != nil else { return 1 }
                print("\(path): no mistake found.")
            case .run(let path, let events):
                guard let configuration = configuration(path) else { return 1 }
                return await run(configuration, events: events)
            }
            return 0
        } catch {
            return fail("talkpost: \(error)")
        }
    }

    private func run(_ configuration: Configuration, events: String?) async -> Int32 {
        var watchers: [any HappeningWatcher] = []
        if let events {
            guard let eventLog = EventLog(path: events) else {
                return fail("talkpost: \(events) cannot be written: \(Self.reason); name another FILE.")
            }
            watchers.append(eventLog)
        }
        let log = Log(configuration.log, console: console, isUnderSystemd: Journal.isStandardError)
        let backend: BackendClient
        do throws(BackendError) {
            backend = try BackendClient(configuration.backend) { log.info($0) }
        } catch {
            return fail("talkpost: \(error.message)")
        }
        let terminal = configuration.led.output == .terminal ? TerminalLED(console: console) : nil
        if let terminal { watchers.append(terminal) }
        defer { terminal?.clear() }

        let meter = SoundMeter()
        PBVoice.audioDevice = MeteredDevice(
            WAVDevice(microphone: configuration.sound.microphone, speaker: configuration.sound.speaker), meter: meter)
        PBVoice.configuration = VoiceConfiguration(configuration)
        PBVoice.onDiagnostic = { log.warning("\($0)") }

        func serve(_ button: any Hardware.Button) async {
            let service = KioskService(
                configuration.talk, button: button, led: terminal ?? DarkLED(), backend: backend,
                opener: .voices(configuration.sound.session), meter: meter, log: log, watchers: watchers)
            let signals = Termination { service.quit() }
            await service.run()
            signals.cancel()
        }
        switch configuration.button.source {
        case .keyboard:
            let keyboard = KeyboardButton()
            await serve(keyboard)
            keyboard.restore()
            return 0
        case .script(let path):
            guard let script = script(path) else { return 1 }
            let button = ScriptedButton(script)
            watchers.append(button)
            let steps = Task { await button.run() }
            await serve(button)
            steps.cancel()
            return button.failure.map { fail("talkpost: \($0)") } ?? 0
        }
    }

    /// Reads a config file; nil where something is wrong with it, which has then been said.
    private func configuration(_ path: String) -> Configuration? {
        guard let bytes = SmallFile.read(path, byteLimit: ConfigReader.byteLimit + 1) else {
            _ = fail("\(path): the config cannot be read: \(Self.reason); name another with --config")
            return nil
        }
        do throws(ConfigProblems) {
            var configuration = try ConfigReader.read(bytes)
            configuration.backend.credentialsDirectory = getenv("CREDENTIALS_DIRECTORY").map { String(cString: $0) }
            do throws(BackendError) {
                _ = try BackendURL(configuration.backend)
            } catch {
                _ = fail("\(path): \(error.message)")
                return nil
            }
            return configuration
        } catch {
            for problem in error.problems { _ = fail(problem.described(inFile: path)) }
            return nil
        }
    }

    private func script(_ path: String) -> ButtonScript? {
        guard let bytes = SmallFile.read(path, byteLimit: ButtonScript.byteLimit) else {
            _ = fail("\(path): the button script cannot be read: \(Self.reason); name another in [button] source")
            return nil
        }
        do throws(ConfigProblem) {
            return try ButtonScript(parsing: bytes)
        } catch {
            _ = fail(error.described(inFile: path))
            return nil
        }
    }

    /// Why the last call of the system failed.
    private static var reason: String { String(cString: strerror(errno)) }

    private func fail(_ sentence: String) -> Int32 {
        console.write(line: sentence)
        return 1
    }
}

/// SIGTERM and SIGINT, as an orderly end; a program whose pipe was closed on it goes on. Lives on the main actor.
@MainActor
private final class Termination {
    private var sources: [any DispatchSourceSignal] = []

    init(_ end: @escaping @MainActor () -> Void) {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            // Dispatch calls it on the main queue, which is the main actor's.
            source.setEventHandler { MainActor.assumeIsolated { end() } }
            source.resume()
            sources.append(source)
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}

/// No LED at all.
@MainActor
private final class DarkLED: Hardware.LED {
    func show(_ pattern: BlinkPattern) {}
}

extension VoiceConfiguration {
    fileprivate init(_ configuration: Configuration) {
        self.init()
        bitsPerSecond = configuration.voice.bitsPerSecond
        encoderComplexity = configuration.voice.encoderComplexity
        expectedLossPercent = configuration.voice.expectedLossPercent
        let names = configuration.network.interfaces
        interfaces = names.isEmpty ? nil : Set(names)
        offersLoopback = configuration.network.offersLoopback
    }
}
