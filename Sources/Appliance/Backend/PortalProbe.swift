import VoiceCore

/// Finds out why no trusted connection could be made: a network's sign-in page in between, or this machine's clock. It asks, without
/// credentials, at the backend's own host in plain HTTP, where a portal would answer in its stead.
struct PortalProbe: Sendable {
    let home: WebAddress
    /// Through a proxy there is no portal to be met.
    let usesProxy: Bool
    let port: UInt16
    let mailbox: BackendMailbox

    /// Somebody stands at the button; a portal is near.
    static let timeout = Duration.milliseconds(1500)

    /// The same error, or a better name for it.
    /// - Throws: `CancellationError`.
    func explained(_ error: BackendError) async throws -> BackendError {
        guard home.isSecure, !usesProxy, error.kind == .tls || error.kind == .unreachable else { return error }
        let isAboutTime = error.doubt?.isAboutTime == true
        if isAboutTime, WallClock.isWrong(now: WallClock.now(), buildDate: WallClock.buildDate, farEnd: nil) {
            return clockError(error)
        }
        // A certificate's other faults are what they are: a portal would show one of another name or issuer.
        switch error.doubt {
        case .otherKey, .clientCertificate: return error
        case nil, .notYetValid, .expired, .otherName, .unknownIssuer, .other: break
        }
        guard let response = try await answer() else { return error }
        if CaptivePortal.answeredProbe(response, to: url) { return CaptivePortal.error(at: home.origin) }
        if isAboutTime, WallClock.isWrong(now: WallClock.now(), buildDate: 0, farEnd: response.date) {
            return clockError(error)
        }
        return error
    }

    private var url: String {
        let name = home.host.contains(":" as Character) ? "[\(home.host)]" : home.host
        return "http://\(name):\(port)/"
    }

    private func answer() async throws -> HTTPResponse? {
        let pending = PendingResponse()
        let request = HTTPRequest(
            method: .get, url: url, headers: Redacted(BackendExchange.commonHeaders), timeout: Self.timeout,
            isAside: true)
        mailbox.post(.perform(request, pending))
        do {
            return try await pending.value { [mailbox] in mailbox.post(.abandon(pending)) }
        } catch is BackendError {
            return nil  // nobody answers there: the first error stands
        }
    }

    private func clockError(_ error: BackendError) -> BackendError {
        BackendError(
            .clock,
            """
            No trusted connection to the backend at \(home.origin) could be made, because this machine's clock is wrong: have it \
            set by the network (timedatectl, NTP) or by hand. (\(error.message))
            """)
    }
}
