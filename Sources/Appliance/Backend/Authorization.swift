import Synchronization
import VoiceCore

/// What a request shows of who we are: the credentials as the files hold them now, or a token that was got for them.
///
/// Used from any task; reads small files. Its values are in no description.
final class Authorization: Sendable {
    /// What one request shows.
    struct Grant: Equatable, Sendable {
        /// Whole header lines.
        var headers = Redacted<[String]>([])
        /// All that must be hidden in errors.
        var secrets: [String] = []
        /// Whether a bearer token is missing that could be got.
        var lacksToken = false
    }

    private let apikey: Credential?
    private let bearer: Credential?
    private let refresh: TokenRefresh?
    private let isKeepingAhead = Atomic(false)

    /// - Throws: `credential` where a credential has no directory, `invalidConfiguration` where the refresh is named by half.
    init(_ settings: BackendSettings, mailbox: BackendMailbox, notice: @escaping @Sendable (String) -> Void)
        throws(BackendError)
    {
        func credential(_ name: String?, _ key: String) throws(BackendError) -> Credential? {
            guard let name, !name.isEmpty else { return nil }
            return try Credential(name, key: key, directory: settings.credentialsDirectory)
        }
        apikey = try credential(settings.apikeyCredential, "apikey_credential")
        bearer = try credential(settings.bearerCredential, "bearer_credential")
        let token = try credential(settings.refreshCredential, "refresh_credential")
        guard (token == nil) == (settings.refreshURL == nil) else {
            throw BackendError(
                .invalidConfiguration,
                "Only one of refresh_url and refresh_credential in [backend] is set: set both, or neither.")
        }
        guard let token, let url = settings.refreshURL else {
            refresh = nil
            return
        }
        guard WebAddress(url) != nil else {
            throw BackendError(
                .invalidConfiguration,
                "The key refresh_url in [backend] is no web address: write http://HOST/PATH or https://HOST/PATH there."
            )
        }
        refresh = TokenRefresh(
            url: url, body: settings.refreshBody, credential: token, timeout: settings.timeout,
            directory: settings.stateDirectory, mailbox: mailbox, notice: notice)
    }

    /// - Throws: `credential` where a file cannot be used.
    func grant() throws(BackendError) -> Grant {
        var headers: [String] = []
        var secrets: [String] = []
        if let apikey {
            secrets.append(try apikey.read())
            headers.append("apikey: \(secrets[0])")
        }
        let inFile = if let bearer { Optional(try bearer.read()) } else { String?.none }
        let token = refresh?.token(insteadOf: inFile) ?? inFile
        if let token {
            headers.append("Authorization: Bearer \(token)")
            secrets.append(token)
        }
        return Grant(headers: Redacted(headers), secrets: secrets, lacksToken: token == nil && refresh != nil)
    }

    /// What to show after the backend did not take `rejected`; nil: there is nothing else.
    /// - Parameters:
    ///   - mayRefresh: whether a new token may be got. Several callers get the same one.
    ///   - transport: how it is asked for.
    /// - Throws: `BackendError` where it could not be got, `CancellationError`.
    func grant(after rejected: Grant, mayRefresh: Bool, by transport: Transport) async throws
        -> (grant: Grant, isRefreshed: Bool)?
    {
        // It may have been renewed meanwhile: in its file, or by another caller.
        let now = try grant()
        if now != rejected, !now.lacksToken { return (now, false) }
        guard mayRefresh, let refresh else { return nil }
        try await renew(refresh, by: transport)
        return (try grant(), true)
    }

    private func renew(_ refresh: TokenRefresh, by transport: Transport) async throws {
        let inFile = if let bearer { Optional(try bearer.read()) } else { String?.none }
        let key = if let apikey { ["apikey: \(try apikey.read())"] } else { [String]() }
        try await refresh.renew(insteadOf: inFile, headers: Redacted(key), by: transport)
    }

    /// Gets each next token before the last one ends, in the background, from the first on that says when. What fails is left to the
    /// press that needs a token.
    func keepAhead(by transports: TransportSettings) {
        guard refresh?.renewal != nil, !isKeepingAhead.exchange(true, ordering: .acquiringAndReleasing) else { return }
        Task { [weak self] in
            while let due = self?.refresh?.renewal {
                let wait = due - Instant.now()
                if wait > .zero {
                    guard (try? await Task.sleep(for: wait, clock: SuspendingClock())) != nil else { break }
                } else {
                    guard let self, let refresh = self.refresh, let transport = try? transports.current(),
                        (try? await self.renew(refresh, by: transport)) != nil
                    else { break }
                }
            }
            self?.isKeepingAhead.store(false, ordering: .releasing)
        }
    }
}
