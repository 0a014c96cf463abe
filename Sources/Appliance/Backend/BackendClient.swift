import VoiceCore

/// The contract's two routes over HTTP.
///
/// Owned by the service; any task calls it. It owns the backend thread by its mailbox and ends it when let go of. It never
/// blocks but for reading small credential files, never repeats a POST, and never puts a secret into an error.
final class BackendClient: VoiceBackend {
    private let timeout: Duration
    private let urls: BackendURL
    private let credentials: [(header: String, credential: Credential)]
    private let mailbox = BackendMailbox()
    private let notice: @Sendable (String) -> Void

    /// Starts the backend thread.
    /// - Parameters:
    ///   - adoptionLimit: how long an answer that nobody waits for any longer is still waited for.
    ///   - notice: takes a sentence for the log about work in the background, from the backend thread.
    /// - Throws: `invalidConfiguration` or `credential` where the settings cannot be used; credential files are not read yet.
    init(
        _ settings: BackendSettings, adoptionLimit: Duration = .seconds(30),
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(BackendError) {
        timeout = settings.timeout
        self.notice = notice
        urls = try BackendURL(settings)
        var credentials: [(String, Credential)] = []
        if let name = settings.apikeyCredential, !name.isEmpty {
            let key = "apikey_credential"
            credentials.append(("apikey: ", try Credential(name, key: key, directory: settings.credentialsDirectory)))
        }
        if let name = settings.bearerCredential, !name.isEmpty {
            let key = "bearer_credential"
            credentials.append(
                ("Authorization: Bearer ", try Credential(name, key: key, directory: settings.credentialsDirectory)))
        }
        self.credentials = credentials
        try BackendThread.start(mailbox, adoptionLimit: adoptionLimit)
    }

    deinit {
        mailbox.post(.stop)
    }

    /// - Throws: `BackendError`; `CancellationError` where the task was cancelled: the voice is then closed in the background.
    func start(offer: String) async throws -> PBStartedVoice {
        // Whoever was cancelled before wants no voice: nothing is posted.
        try Task.checkCancellation()
        let secrets = try readSecrets()
        let request = startRequest(offer, secrets)
        let response = try await answer(to: request, secrets)
        if Task.isCancelled {
            closeInBackground(BackendReply.voiceToClose(response))
            throw CancellationError()
        }
        do throws(BackendError) {
            let reply = BackendReply(purpose: "start a voice", url: BackendURL.withoutQuery(urls.start))
            let started = try reply.startedVoice(response)
            guard urls.close(voice: started.id) != nil else {
                throw BackendError(
                    .invalidAnswer, "The backend named its voice \"\(started.id)\", which cannot stand in an address.")
            }
            return started
        } catch {
            closeInBackground(BackendReply.voiceToClose(response))
            throw error.hiding(secrets)
        }
    }

    /// - Throws: `BackendError`; `CancellationError` where the task was cancelled: the close is sent all the same.
    func close(voice: String) async throws -> Double {
        let secrets = try readSecrets()
        let request = try closeRequest(voice, secrets)
        let response = try await answer(to: request, secrets)
        do throws(BackendError) {
            return try BackendReply(purpose: "close a voice", url: BackendURL.withoutQuery(request.url)).seconds(
                response)
        } catch {
            throw error.hiding(secrets)
        }
    }

    /// Why the backend could not be reached when it was last asked, with the cure; nil: it could, or was not asked yet.
    var fault: String? { mailbox.fault }

    func warm() {
        mailbox.post(
            .warm(HTTPRequest(method: .head, url: urls.origin, headers: Redacted([Self.userAgent]), timeout: timeout)))
    }

    /// Returns once nothing is under way, in the background either, or after the limit: before the process ends.
    func settled(within limit: Duration) async {
        await withCheckedContinuation { mailbox.post(.whenIdle($0, limit: limit)) }
    }

    private static let userAgent = "User-Agent: talkpost"

    private func answer(to request: HTTPRequest, _ secrets: [String]) async throws -> HTTPResponse {
        let pending = PendingResponse()
        mailbox.post(.perform(request, pending))
        do {
            return try await pending.value { [mailbox] in mailbox.post(.abandon(pending)) }
        } catch let error as BackendError {
            throw error.hiding(secrets)
        }
    }

    private func startRequest(_ offer: String, _ secrets: [String]) -> HTTPRequest {
        var request = post(urls.start, JSONValue.object(["sdp": .text(offer)]).encoded, secrets)
        request.afterAbandonment = { [self] outcome in
            guard case .success(let response) = outcome else { return nil }
            return backgroundCloseRequest(BackendReply.voiceToClose(response))
        }
        return request
    }

    private func closeRequest(_ voice: String, _ secrets: [String]) throws(BackendError) -> HTTPRequest {
        guard let url = urls.close(voice: voice) else {
            throw BackendError(
                .invalidConfiguration,
                "The voice \"\(ErrorEnvelope.readable(voice))\" cannot be closed: it is no voice's id.")
        }
        var request = post(url, Array("{}".utf8), secrets)
        let reply = BackendReply(purpose: "close a voice", url: BackendURL.withoutQuery(url))
        request.afterAbandonment = { [notice] outcome in
            do throws(BackendError) {
                let seconds = try reply.seconds(outcome.get())
                notice("A voice that was given up was closed at the backend after \(seconds) s.")
            } catch {
                notice("A voice that was given up may still be open at the backend: \(error.hiding(secrets).message)")
            }
            return nil
        }
        return request
    }

    private func closeInBackground(_ voice: String?) {
        if let request = backgroundCloseRequest(voice) { mailbox.post(.perform(request, nil)) }
    }

    private func backgroundCloseRequest(_ voice: String?) -> HTTPRequest? {
        guard let voice else { return nil }
        do throws(BackendError) {
            return try closeRequest(voice, try readSecrets())
        } catch {
            notice("A voice that was given up may still be open at the backend: \(error.message)")
            return nil
        }
    }

    private func post(_ url: String, _ body: [UInt8], _ secrets: [String]) -> HTTPRequest {
        let headers =
            // An empty Expect keeps libcurl from waiting for the server's leave to send the body.
            ["Content-Type: application/json", "Accept: application/json", "Expect:", Self.userAgent]
            + zip(credentials, secrets).map { $0.header + $1 }
        return HTTPRequest(method: .post(body: body), url: url, headers: Redacted(headers), timeout: timeout)
    }

    /// Each credential's value, in the order of `credentials`, as the files hold them now.
    private func readSecrets() throws(BackendError) -> [String] {
        var secrets: [String] = []
        for (_, credential) in credentials { secrets.append(try credential.read()) }
        return secrets
    }
}
