import Synchronization
import VoiceCore

/// Gets a new bearer token for the refresh token, one at a time. The token is kept in memory; a refresh token that the backend
/// changes, in the state directory.
///
/// Used from any task; the request goes through the backend thread.
final class TokenRefresh: Sendable {
    private struct Token {
        var value: String
        /// What the bearer's file held then: a newer one there wins.
        var insteadOf: String?
        /// When the next one is to be got, where this one says how long it lasts.
        var renewal: Instant?
    }

    private struct State {
        var token: Token?
        /// The refresh token that the backend gave last, and which one in the credential file it comes from.
        var rotated: (token: String, origin: String)?
        var waiters: [Pending<Void>] = []
    }

    private let url: String
    private let body: RefreshBody
    private let credential: Credential
    private let timeout: Duration
    private let file: StateFile?
    private let mailbox: BackendMailbox
    private let notice: @Sendable (String) -> Void
    private let state: Mutex<State>

    init(
        url: String, body: RefreshBody, credential: Credential, timeout: Duration, directory: String?,
        mailbox: BackendMailbox, notice: @escaping @Sendable (String) -> Void
    ) {
        self.url = url
        self.body = body
        self.credential = credential
        self.timeout = timeout
        self.mailbox = mailbox
        self.notice = notice
        file = directory.map { StateFile(directory: $0, name: "refresh-token") }
        var state = State()
        let kept = file?.read().flatMap { JSONValue(reading: $0) }
        if let token = kept?["token"]?.text, let origin = kept?["origin"]?.text, Self.isToken(token) {
            state.rotated = (token, origin)
        }
        self.state = Mutex(state)
    }

    /// The token that was got while the bearer's file held the same as now.
    func token(insteadOf inFile: String?) -> String? {
        state.withLock { state in
            guard let token = state.token, token.insteadOf == inFile else { return nil }
            return token.value
        }
    }

    /// When the next token is to be got, so that no press waits for it; nil: there is none yet, or it does not say how long it lasts.
    var renewal: Instant? { state.withLock { $0.token?.renewal } }

    /// How long after it was got a token is replaced: while a fifth of its life is left, or a minute, which is time enough for a token
    /// service that is slow.
    /// - Parameter seconds: as `expires_in` says (RFC 6749 5.1); nil for what is no time, or too short to be followed.
    static func renewalDelay(lifetime seconds: Double?) -> Duration? {
        // A year: longer ones are none, and would overflow.
        guard let seconds, seconds >= 1, seconds <= 31_536_000 else { return nil }
        return .milliseconds(Int(max(seconds - 60, seconds * 0.8) * 1000))
    }

    /// Returns once there is a new token; whoever asks while one is being got waits for the same.
    /// - Throws: `BackendError`, `CancellationError`.
    func renew(insteadOf inFile: String?, headers: Redacted<[String]>, by transport: Transport) async throws {
        let pending = Pending<Void>()
        let isFirst = state.withLock { state in
            state.waiters.append(pending)
            return state.waiters.count == 1
        }
        if isFirst {
            mailbox.beginWork()
            // A task of its own: a caller who gives up must not take the token from the others.
            Task {
                let outcome = await fetch(insteadOf: inFile, headers, transport)
                let waiters = state.withLock { state in
                    defer { state.waiters = [] }
                    return state.waiters
                }
                for waiter in waiters { _ = waiter.settle(outcome) }
                mailbox.endWork()
            }
        }
        try await pending.value {}
    }

    private func fetch(
        insteadOf inFile: String?, _ headers: Redacted<[String]>, _ transport: Transport
    ) async -> Pending<Void>.Outcome {
        var secrets = headers.reveal().map { String($0.drop { $0 != " " }.dropFirst()) }
        do {
            let original = try credential.read()
            let origin = Self.mark(of: original)
            var candidates = [original]
            // A credential that was put in anew is not what the kept one comes from.
            if let rotated = state.withLock({ $0.rotated }), rotated.origin == origin, rotated.token != original {
                candidates.insert(rotated.token, at: 0)
            }
            secrets += candidates
            for (index, candidate) in candidates.enumerated() {
                let response = try await ask(with: candidate, headers, transport)
                // The kept one may be spent where the credential still works, never the other way round.
                let isRefused = [400, 401, 403].contains(response.status)
                if isRefused, index + 1 < candidates.count { continue }
                try take(response, from: candidate, origin: origin, insteadOf: inFile)
                return .success(())
            }
            return .success(())
        } catch let error as BackendError {
            return .failure(error.hiding(secrets))
        } catch {
            return .failure(BackendError(.noAnswer, "The refresh at \(place) was given up."))
        }
    }

    private func ask(
        with token: String, _ headers: Redacted<[String]>, _ transport: Transport
    ) async throws -> HTTPResponse {
        let type: String
        let bytes: [UInt8]
        switch body {
        case .json:
            type = "application/json"
            bytes = JSONValue.object(["refresh_token": .text(token)]).encoded
        case .form:
            type = "application/x-www-form-urlencoded"
            bytes = Array("grant_type=refresh_token&refresh_token=\(token.percentEncoded)".utf8)
        }
        let lines = ["Content-Type: \(type)", "Accept: application/json"] + BackendExchange.commonHeaders
        let request = HTTPRequest(
            method: .post(body: bytes), url: url, headers: Redacted(lines + headers.reveal()), timeout: timeout,
            transport: transport, isAside: true)
        let pending = PendingResponse()
        mailbox.post(.perform(request, pending))
        return try await pending.value {}
    }

    private func take(
        _ response: HTTPResponse, from used: String, origin: String, insteadOf inFile: String?
    ) throws(BackendError) {
        if [400, 401, 403].contains(response.status), !CaptivePortal.answered(response, to: url) {
            let said = ErrorEnvelope(reading: response.body).code.map { ", \($0)" } ?? ""
            throw BackendError(
                .unauthorized,
                """
                The backend did not take the refresh token at \(place) (status \(response.status)\(said)): put a fresh one into the \
                file of refresh_credential in [backend].
                """, status: response.status)
        }
        let reply = BackendReply(purpose: "give a new token", url: url, response: response)
        let fields = try reply.fields()
        // As OAuth has it (RFC 6749 5.1), or within what services wrap it in.
        let places = [fields, fields["session"], fields["data"]].compactMap { $0 }
        let text = { (names: [String]) in
            places.lazy.flatMap { place in names.compactMap { place[$0]?.text } }.first { Self.isToken($0) }
        }
        guard let token = text(["access_token", "accessToken"]) else {
            throw reply.invalid("has no access_token in it: check refresh_url in [backend]")
        }
        let lifetime = places.lazy.compactMap { ($0["expires_in"] ?? $0["expiresIn"])?.number }.first
        let renewal = Self.renewalDelay(lifetime: lifetime).map { Instant.now() + $0 }
        let rotated = text(["refresh_token", "refreshToken"]).flatMap { $0 == used ? nil : $0 }
        state.withLock { state in
            state.token = Token(value: token, insteadOf: inFile, renewal: renewal)
            guard let rotated else { return }
            state.rotated = (rotated, origin)
            guard let file else { return }
            let kept = JSONValue.object(["token": .text(rotated), "origin": .text(origin)]).encoded
            mailbox.post(
                .save(file, kept) { [notice] in
                    notice("The new refresh token cannot be kept, so that the next start may need a fresh one: \($0).")
                })
        }
    }

    private var place: String { BackendURL.withoutQuery(url) }

    /// What can stand in a header: RFC 6750 2.1's characters and all else that is visible.
    private static func isToken(_ text: String) -> Bool {
        (1...16_384).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// By which a credential is known again without being kept: FNV-1a, 64 bits.
    private static func mark(of text: String) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}
