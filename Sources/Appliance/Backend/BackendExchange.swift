import VoiceCore

/// Sends a message with our credentials, and does what an answer asks for before it counts: shows newer credentials, waits a
/// moment, follows to another address.
///
/// Nothing is sent again unless an answer says that it was not taken.
struct BackendExchange: Sendable {
    struct Answer: Sendable {
        var response: HTTPResponse
        /// Who gave it.
        var url: String
        /// What must be hidden in an error made of it.
        var secrets: [String]
    }

    let mailbox: BackendMailbox
    let authorization: Authorization
    let transports: TransportSettings
    /// Where our credentials belong.
    let home: WebAddress
    let followsRedirects: Bool
    let timeout: Duration

    static let commonHeaders = ["Expect:", "User-Agent: talkpost"]

    /// - Parameter adopting: called on the backend thread with an answer that nobody waits for any longer, and who gave it.
    /// - Throws: `BackendError` without any secret in it, `CancellationError`.
    func answer(
        to message: BackendMessage, adopting: (@Sendable (HTTPResponse, _ url: String) -> Void)? = nil
    ) async throws -> Answer {
        let beginning = Instant.now()
        var steps = ExchangeSteps(home: home, url: message.url, followsRedirects: followsRedirects, limit: timeout)
        var grant = try authorization.grant()
        var mayRefresh = true
        if grant.lacksToken, steps.isAtHome {
            mayRefresh = false
            grant =
                try await authorization.grant(after: grant, mayRefresh: true, by: transports.current())?.grant ?? grant
            authorization.keepAhead(by: transports)
        }
        while true {
            let transport = try transports.current()
            let url = steps.url
            let secrets = grant.secrets + transport.secrets
            let credentials = steps.isAtHome ? grant.headers.reveal() : []
            var request = HTTPRequest(
                method: message.method, url: url,
                headers: Redacted(message.headers + Self.commonHeaders + credentials),
                timeout: max(.milliseconds(100), timeout - (Instant.now() - beginning)), transport: transport,
                isAside: !steps.isAtHome)
            if let adopting {
                request.afterAbandonment = { outcome in
                    if case .success(let response) = outcome { adopting(response, url) }
                }
            }
            let response = try await send(request, hiding: secrets)
            let step = steps.next(after: response, elapsed: Instant.now() - beginning)
            switch step {
            case .done: return Answer(response: response, url: url, secrets: secrets)
            case .follow: break
            case .wait(let duration): try await Task.sleep(for: duration, clock: SuspendingClock())
            case .renew:
                guard let newer = try await authorization.grant(after: grant, mayRefresh: mayRefresh, by: transport)
                else {
                    return Answer(response: response, url: url, secrets: secrets)
                }
                grant = newer.grant
                guard newer.isRefreshed else { continue }
                mayRefresh = false
                authorization.keepAhead(by: transports)
            }
        }
    }

    private func send(_ request: HTTPRequest, hiding secrets: [String]) async throws -> HTTPResponse {
        let pending = PendingResponse()
        mailbox.post(.perform(request, pending))
        do {
            return try await pending.value { [mailbox] in mailbox.post(.abandon(pending)) }
        } catch let error as BackendError {
            throw error.hiding(secrets)
        }
    }
}

/// What follows upon an answer. Pure.
struct ExchangeSteps {
    enum Step: Equatable {
        /// The answer counts.
        case done
        /// To `url`.
        case follow
        /// As long, then the same again.
        case wait(Duration)
        /// The same again with newer credentials, if there are any.
        case renew
    }

    /// How long somebody who stands at the button is kept waiting by a backend that asks to be asked again.
    static let waitLimit = Duration.seconds(5)
    /// RFC 9110 15.4 asks for a limit; a load balancer needs one.
    static let redirectLimit = 3

    /// Where the next request goes.
    private(set) var url: String
    private let home: WebAddress
    private let followsRedirects: Bool
    private let limit: Duration
    private var redirectCount = 0
    private var renewalCount = 0
    private var waited = Duration.zero

    /// - Parameter limit: how long all steps may take together.
    init(home: WebAddress, url: String, followsRedirects: Bool, limit: Duration) {
        self.home = home
        self.url = url
        self.followsRedirects = followsRedirects
        self.limit = limit
    }

    /// Whether our credentials may be shown there.
    var isAtHome: Bool { WebAddress(url)?.hasOrigin(of: home) == true }

    mutating func next(after response: HTTPResponse, elapsed: Duration) -> Step {
        guard elapsed < limit else { return .done }
        switch response.status {
        case 401 where isAtHome:
            // First what the files hold now, then a refresh, each once; an app's attestation is no credential.
            guard renewalCount < 2, !BackendReply.wantsAttestation(response) else { return .done }
            renewalCount += 1
            return .renew
        case 429, 503:
            guard let asked = response.retryAfter ?? ErrorEnvelope(reading: response.body).retryAfter else {
                return .done
            }
            // A second at least: a backend that says 0 would be asked in a circle.
            let wait = max(.seconds(1), asked)
            guard waited + wait <= Self.waitLimit, elapsed + wait < limit else { return .done }
            waited += wait
            return .wait(wait)
        case 307, 308:
            guard followsRedirects, redirectCount < Self.redirectLimit, let location = response.location,
                let from = WebAddress(url), let target = from.resolving(location), target.isSecure || !from.isSecure
            else { return .done }
            redirectCount += 1
            url = target.text
            return .follow
        default: return .done
        }
    }
}
