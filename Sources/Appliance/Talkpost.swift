import Dispatch
import Glibc
import Hardware
import VoiceCore

/// The program `talkpost`: reads its command line and its config, and lets the service run with the parts that the config names.
@main
@MainActor
struct Talkpost {
    private let console = Console()
    private let notifier = ServiceNotifier()

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
                guard say(ConfigFile(path: path).problems) == 0 else { return 1 }
                print("\(path): no mistake found.")
            case .ledMuted(let path):
                let configuration = ConfigFile(path: path).configuration
                let status = leaveLEDMuted(configuration.led)
                guard Self.hasCrashed else { return status }
                return SoundParts.muteAfterCrash(configuration).reduce(status) { _, sentence in
                    fail("talkpost: \(sentence)")
                }
            case .run(let path, let events):
                let file = ConfigFile(path: path)
                let status = say(file.problems)
                // Under systemd nothing is won by an end: what can be read is followed, and the status says what is wrong.
                guard status == 0 || notifier.isListenedTo else { return status }
                return await run(file, events: events)
            }
            return 0
        } catch {
            return fail("talkpost: \(error)")
        }
    }

    /// Whether systemd ended the service for another reason than being asked to (systemd.exec(5), $SERVICE_RESULT).
    private static var hasCrashed: Bool { getenv("SERVICE_RESULT").map { strcmp($0, "success") != 0 } ?? false }

    /// For a service that has died, whose LED may say that the microphone is heard.
    private func leaveLEDMuted(_ settings: Configuration.LED) -> Int32 {
        guard case .gpio(let line) = settings.output else { return 0 }
        do throws(GPIOError) {
            try GPIOLED.leaveLit(line: line, polarity: settings.polarity, drive: settings.drive)
            return 0
        } catch {
            return fail("talkpost: \(error)")
        }
    }

    private func run(_ file: ConfigFile, events: String?) async -> Int32 {
        let configuration = file.configuration
        var watchers: [any HappeningWatcher] = []
        if let events {
            guard let eventLog = EventLog(path: events) else {
                return fail("talkpost: \(events) cannot be written: \(Self.reason); name another FILE.")
            }
            watchers.append(eventLog)
        }
        let log = Log(configuration.log, console: console, isUnderSystemd: Journal.isStandardError)
        let backend: any VoiceBackend
        let backendFault: HealthWatch.Look
        var closeLeftOpen = {}
        var answer: (@MainActor (PBStartedVoice, String) async throws -> Void)?
        do throws(BackendError) {
            if let problem = file.backendProblem { throw BackendError(.invalidConfiguration, "\(problem).") }
            var settings = configuration.backend
            settings.stateDirectory = StateDirectory.path(configuration.state)
            let client = try BackendClient(settings, notice: { log.info($0) })
            backend = client
            closeLeftOpen = { client.closeLeftOpen() }
            if client.answersOffers { answer = { try await client.answer($1, voice: $0.id) } }
            backendFault = { client.fault }
        } catch {
            guard notifier.isListenedTo else { return fail("talkpost: \(error.message)") }
            backend = MissingBackend(error: error)
            backendFault = { error.message }
        }
        let parts: Parts
        do throws(Parts.Unusable) {
            parts = try Parts(configuration, console: console, log: log)
        } catch {
            return fail(error.sentence)
        }
        watchers += parts.watchers
        let captions = Self.captions(configuration.captions, log)
        if let captions { watchers.append(captions) }
        PBVoice.audioDevice = parts.device
        PBVoice.configuration = VoiceConfiguration(configuration)
        PBVoice.onDiagnostic = { $0.isFigure ? log.info("\($0)") : log.warning("\($0)") }

        var looks = parts.looks
        looks.append((.network, { Self.networkFault(configuration.network) }))
        looks.append((.backend, backendFault))
        looks.append((.config, { file.problems.first.map { "\($0)." } }))
        let health = HealthWatch(
            looks: looks, watchdogPeriod: notifier.watchdogPeriod, threads: { PBVoice.threads },
            send: { notifier.send($0) }, log: log)
        let service = KioskService(
            configuration.talk, button: parts.button, led: parts.led, backend: backend,
            opener: .voices(
                configuration.sound.session, reach: ReachSettings(configuration), answer: answer, log: log),
            sound: parts.bridge, health: health, log: log, watchers: watchers)
        PBVoice.onEvent = { [weak service] in service?.hear($1, in: $0.id) }
        let signals = Termination { service.quit() }
        parts.start()
        closeLeftOpen()
        await service.run()
        signals.cancel()
        captions?.finish()
        return parts.finish().map { fail("talkpost: \($0)") } ?? 0
    }

    /// - Returns: nil where none are asked for, or none can be offered: that keeps nobody from talking.
    private static func captions(_ settings: Configuration.Captions, _ log: Log) -> CaptionSocket? {
        guard let path = settings.socketPath else { return nil }
        do throws(CaptionSocket.Unusable) {
            return try CaptionSocket(path: path)
        } catch {
            log.warning(error.sentence)
            return nil
        }
    }

    private static func networkFault(_ network: Configuration.Network) -> String? {
        guard !PBVoice.hasNetwork else { return nil }
        return network.interfaces.isEmpty
            ? "No network interface has an address: look at the cable or the wireless."
            : "None of the interfaces in [network] has an address (\(network.interfaces.joined(separator: ", "))): look at the cable, "
                + "the wireless and their names."
    }

    /// Why the last call of the system failed.
    private static var reason: String { String(cString: strerror(errno)) }

    /// - Returns: the exit status for a config with these problems.
    private func say(_ problems: [String]) -> Int32 {
        for problem in problems { console.write(line: problem) }
        return problems.isEmpty ? 0 : 1
    }

    private func fail(_ sentence: String) -> Int32 {
        console.write(line: sentence)
        return 1
    }
}

extension VoiceConfiguration {
    fileprivate init(_ configuration: Configuration) {
        self.init()
        bitsPerSecond = configuration.voice.bitsPerSecond
        encoderComplexity = configuration.voice.encoderComplexity
        expectedLossPercent = configuration.voice.expectedLossPercent
        channel = configuration.voice.channel
        let names = configuration.network.interfaces
        takesTurnsByMuting = configuration.talk.turns == .button
        interfaces = names.isEmpty ? nil : Set(names)
        offersLoopback = configuration.network.offersLoopback
    }
}
