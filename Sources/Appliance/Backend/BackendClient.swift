import Synchronization
import VoiceCore

/// Starts and closes voices over HTTP.
///
/// Owned by the service; any task calls it. It owns the backend thread by its mailbox and ends it when let go of. It never
/// blocks but for reading small credential files, never repeats a POST that may have been taken, and never puts a secret into an
/// error.
final class BackendClient: VoiceBackend {
    private let routes: VoiceRoutes
    private let exchange: BackendExchange
    private let unclosed: UnclosedVoices
    private let mailbox = BackendMailbox()
    private let notice: @Sendable (String) -> Void
    private let toldProblems = Mutex<[String]>([])
    private let portalProbe: PortalProbe
    private let closeWait: @Sendable (_ failureCount: Int, BackendError) -> Duration?

    /// Starts the backend thread, and reads which voices the last run left open.
    /// - Parameters:
    ///   - adoptionLimit: how long an answer that nobody waits for any longer is still waited for.
    ///   - portalPort: where a portal would answer in the backend's stead.
    ///   - notice: takes a sentence for the log about work in the background, from no particular thread.
    ///   - closeWait: when the close of a voice is tried again.
    ///   - localAddresses: those that this machine has now.
    /// - Throws: `invalidConfiguration` or `credential` where the settings cannot be used; credential files are not read yet.
    init(
        _ settings: BackendSettings, adoptionLimit: Duration = .seconds(30), portalPort: UInt16 = 80,
        notice: @escaping @Sendable (String) -> Void = { _ in },
        closeWait: @escaping @Sendable (Int, BackendError) -> Duration? = CloseRetry.wait,
        localAddresses: @escaping @Sendable () -> Set<String> = { LocalAddresses.now() }
    ) throws(BackendError) {
        self.notice = notice
        self.closeWait = closeWait
        routes = try VoiceRoutes(settings)
        let home = try Self.home(routes.urls)
        exchange = BackendExchange(
            mailbox: mailbox, authorization: try Authorization(settings, mailbox: mailbox, notice: notice),
            transports: try TransportSettings(settings), home: home, followsRedirects: routes.followsRedirects,
            timeout: settings.timeout)
        portalProbe = PortalProbe(home: home, usesProxy: settings.proxy != nil, port: portalPort, mailbox: mailbox)
        unclosed = UnclosedVoices(directory: settings.stateDirectory, mailbox: mailbox, notice: notice)
        try BackendThread.start(mailbox, adoptionLimit: adoptionLimit, localAddresses: localAddresses)
    }

    deinit {
        mailbox.post(.stop)
    }

    /// Whether a client could be made of the settings; reads the files that are named by their paths.
    /// - Throws: as `init`.
    static func check(_ settings: BackendSettings) throws(BackendError) {
        _ = try home(try VoiceRoutes(settings).urls)
        var settings = settings
        // Outside the service there is no such folder, and nothing wrong with that.
        settings.credentialsDirectory = settings.credentialsDirectory ?? "/"
        settings.stateDirectory = nil
        _ = try Authorization(settings, mailbox: BackendMailbox()) { _ in }
        _ = try TransportSettings(settings)
    }

    // MARK: Start

    /// - Throws: `BackendError`; `CancellationError` where the task was cancelled: the voice is then closed in the background.
    func start(offer: String) async throws -> BackendVoice {
        // Whoever was cancelled before wants no voice: nothing is posted.
        try Task.checkCancellation()
        do {
            let voice = try await started(offer)
            mailbox.note(fault: nil)
            return voice
        } catch let error as BackendError {
            let explained = try await portalProbe.explained(error)
            // Whatever the backend itself says to one start is no fault of the site.
            if explained.kind.isAboutTheSite { mailbox.note(fault: explained.message) }
            throw explained
        }
    }

    /// Whether the backend makes the offer: `start` then takes none, and what it returns holds one.
    var answersOffers: Bool { routes.answersOffers }

    /// Hands the answer to a voice's offer to a backend that makes the offer.
    /// - Throws: `BackendError`, `CancellationError`. The voice stays open: it is the caller's to close.
    func answer(_ sdp: String, voice id: String) async throws {
        let answer = try await exchange.answer(to: routes.answer(sdp, voice: id))
        do throws(BackendError) {
            try routes.answered(answer.response, from: answer.url)
        } catch {
            throw error.hiding(answer.secrets)
        }
    }

    private func started(_ offer: String) async throws -> BackendVoice {
        let answer = try await exchange.answer(to: routes.start(offer: offer)) { [self] in closeUnwanted($0, from: $1) }
        if Task.isCancelled {
            closeUnwanted(answer.response, from: answer.url)
            throw CancellationError()
        }
        do throws(BackendError) {
            var (voice, open) = try routes.started(answer.response, from: answer.url)
            if let open { unclosed.add(open) }
            let (usable, problems) = BackendICEServer.judged(voice.iceServers)
            voice.started.iceServers = usable
            tell(problems)
            return voice
        } catch {
            closeUnwanted(answer.response, from: answer.url)
            throw error.hiding(answer.secrets)
        }
    }

    /// Says what is wrong with the servers that the backend names, once for as long as it stays the same.
    private func tell(_ problems: [String]) {
        let areNew = toldProblems.withLock { told in
            defer { told = problems }
            return told != problems
        }
        if areNew { for problem in problems { notice(problem) } }
    }

    private func closeUnwanted(_ response: HTTPResponse, from url: String) {
        guard let open = routes.voiceToClose(response, from: url) else { return }
        unclosed.add(open)
        closeInBackground(open, because: .givenUp)
    }

    // MARK: Close

    /// Why a voice is closed, for the log.
    private enum CloseReason {
        case ended
        case givenUp
        case leftOpen

        func subject(_ voice: UnclosedVoice) -> String {
            switch self {
            case .ended: "The voice \(voice.id)"
            case .givenUp: "A voice that was given up"
            case .leftOpen: "The voice \(voice.id), which was open when the program ended last,"
            }
        }
    }

    /// - Throws: `BackendError`; `CancellationError` where the task was cancelled. Either way it goes on in the background.
    func close(voice id: String) async throws -> Double? {
        let open = unclosed.voice(id) ?? routes.unclosedVoice(id)
        guard routes.close(open) != nil else {
            unclosed.remove(open)
            guard routes.kind == .contract else { return nil }
            throw BackendError(
                .invalidConfiguration,
                "The voice \"\(ErrorEnvelope.readable(id))\" cannot be closed: it is no voice's id.")
        }
        let pending = Pending<Double?>()
        closeInBackground(open, because: .ended, telling: pending)
        return try await pending.value {}
    }

    /// Closes the voices that the last run left open, in the background, until the backend has said that they are.
    func closeLeftOpen() {
        for open in unclosed.all {
            if routes.close(open) == nil {
                unclosed.remove(open)
            } else {
                closeInBackground(open, because: .leftOpen)
            }
        }
    }

    private func closeInBackground(
        _ open: UnclosedVoice, because reason: CloseReason, telling pending: Pending<Double?>? = nil,
        failureCount: Int = 0
    ) {
        mailbox.beginWork()
        Task {
            let outcome = await closed(open)
            take(outcome, open, reason, pending, failureCount)
            mailbox.endWork()
        }
    }

    /// Asks the backend once.
    private func closed(_ open: UnclosedVoice) async -> Pending<Double?>.Outcome {
        guard let message = routes.close(open) else { return .success(nil) }
        do {
            let answer = try await exchange.answer(to: message)
            do throws(BackendError) {
                return .success(try routes.closed(answer.response, from: answer.url))
            } catch {
                return CloseRetry.isGone(error) ? .success(nil) : .failure(error.hiding(answer.secrets))
            }
        } catch let error as BackendError {
            return .failure(error)
        } catch {
            return .failure(BackendError(.noAnswer, "The close of a voice was given up."))
        }
    }

    private func take(
        _ outcome: Pending<Double?>.Outcome, _ open: UnclosedVoice, _ reason: CloseReason, _ pending: Pending<Double?>?,
        _ failureCount: Int
    ) {
        switch outcome {
        case .success(let seconds):
            unclosed.remove(open)
            if pending?.settle(outcome) != true {
                let duration = seconds.map { " after \($0) s" } ?? ""
                notice("\(reason.subject(open)) was closed at the backend\(duration).")
            }
        case .failure(let error):
            if pending?.settle(outcome) != true, failureCount == 0 {
                notice("\(reason.subject(open)) may still be open at the backend: \(error.message)")
            }
            if let wait = closeWait(failureCount + 1, error) {
                Task { [weak self] in
                    guard (try? await Task.sleep(for: wait, clock: SuspendingClock())) != nil else { return }
                    self?.closeInBackground(open, because: reason, failureCount: failureCount + 1)
                }
            } else if reason == .leftOpen, CloseRetry.isFinal(error) {
                unclosed.remove(open)  // it was asked in this run and in the last one, and has said no both times
            }
        }
    }

    // MARK: The connection

    /// Why the backend could not be reached when it was last asked, with the cure; nil: it could, or was not asked yet.
    var fault: String? { mailbox.fault }

    func warm() {
        // What cannot be used now is said to the press that needs it.
        guard let transport = try? exchange.transports.current() else { return }
        mailbox.post(
            .warm(
                HTTPRequest(
                    method: .head, url: routes.urls.origin, headers: Redacted(BackendExchange.commonHeaders),
                    timeout: exchange.timeout, transport: transport)))
    }

    /// Returns once nothing is under way, in the background either, or after the limit: before the process ends.
    func settled(within limit: Duration) async {
        await withCheckedContinuation { mailbox.post(.whenIdle($0, limit: limit)) }
    }

    private static func home(_ urls: BackendURL) throws(BackendError) -> WebAddress {
        guard let home = WebAddress(urls.start) else {
            throw BackendError(
                .invalidConfiguration,
                "The key url in [backend] is no web address: write http://HOST/PATH or https://HOST/PATH there.")
        }
        return home
    }
}

extension BackendError.Kind {
    /// Whether it stays as it is until somebody does something about this machine, its network or its config.
    fileprivate var isAboutTheSite: Bool {
        switch self {
        case .invalidConfiguration, .credential, .dns, .unreachable, .tls, .clock, .captivePortal, .unauthorized: true
        case .timeout, .noAnswer, .busy, .refused, .invalidAnswer: false
        }
    }
}
