import VoiceCore

/// Judges an answer before anything in it is believed: its status, its type, its first bytes. Pure.
struct BackendReply {
    /// What was asked, for errors: "start a voice".
    let purpose: String
    /// Where it was asked.
    let url: String
    let response: HTTPResponse

    private var place: String { BackendURL.withoutQuery(url) }

    /// The fields of an answer that must be a JSON object.
    /// - Throws: what `whole` throws, and `invalidAnswer` for anything but JSON.
    func fields() throws(BackendError) -> JSONValue {
        try whole()
        if response.mediaType == "application/sdp" {
            throw invalid("is a bare SDP: set kind = whip in [backend], or url to what answers with JSON")
        }
        guard response.isJSON else {
            let type = response.mediaType.map(ErrorEnvelope.readable) ?? "of no type"
            throw invalid("is \(type), not application/json: check url in [backend], and what serves it")
        }
        guard let fields = JSONValue(reading: response.body), case .object = fields else {
            throw invalid("is not a JSON object: check url in [backend], and what serves it")
        }
        return fields
    }

    /// The text of an answer that must be a bare SDP.
    /// - Throws: as `fields`.
    func sdp() throws(BackendError) -> String {
        try whole()
        if response.isJSON || response.body.first == UInt8(ascii: "{") {
            let said = ErrorEnvelope(reading: response.body).message.map { ", which says \"\($0)\"" } ?? ""
            throw invalid("is JSON\(said), not an SDP: check kind and url in [backend], and what serves it")
        }
        guard response.mediaType == "application/sdp" else {
            let type = response.mediaType.map(ErrorEnvelope.readable) ?? "of no type"
            throw invalid("is \(type), not application/sdp: check kind and url in [backend], and what serves it")
        }
        return try sdp(String(decoding: response.body, as: UTF8.self))
    }

    /// The same text, where it begins as every SDP does (RFC 8866 5.1).
    func sdp(_ text: String?) throws(BackendError) -> String {
        guard let text, !text.isEmpty else { throw invalid("has no sdp in it: look at what serves url in [backend]") }
        guard text.hasPrefix("v=0") else {
            throw invalid("holds an sdp that does not begin with v=0: look at what serves url in [backend]")
        }
        return text
    }

    /// The same id, where it is one by which a voice can be closed.
    func id(_ id: String?) throws(BackendError) -> String {
        guard let id, BackendURL.isSegment(id) else {
            throw invalid("has no usable voice id in it: look at what serves url in [backend]")
        }
        return id
    }

    /// An answer of status 2xx that came whole and from the backend itself.
    /// - Throws: `captivePortal`, `unauthorized`, `busy`, `refused`, `invalidConfiguration` (app_attest_required), `invalidAnswer`.
    func whole() throws(BackendError) {
        if CaptivePortal.answered(response, to: url) { throw CaptivePortal.error(at: place, response) }
        guard response.isSuccess else { throw refusal() }
        switch response.completeness {
        case .whole: break
        case .truncated: throw invalid("ended before it was whole: look at what stands before the backend")
        case .oversized:
            throw invalid("is longer than \(HTTPResponse.bodyLimit) bytes: check url in [backend], and what serves it")
        }
        if response.isHTML {
            throw invalid(
                "is a web page (text/html): check url in [backend], which names a page and not the voice's route")
        }
    }

    /// The error for a 2xx that cannot be used. `why` says also what to do.
    func invalid(_ why: String) -> BackendError {
        BackendError(
            .invalidAnswer,
            "The backend was asked to \(purpose) at \(place), but its answer (status \(response.status)) \(why).",
            status: response.status, requestID: response.requestID)
    }

    /// Whether the answer says that only an app on its maker's own device may come in, which no credential changes.
    static func wantsAttestation(_ response: HTTPResponse) -> Bool {
        ErrorEnvelope(reading: response.body).code == "app_attest_required"
    }

    private func refusal() -> BackendError {
        let envelope = ErrorEnvelope(reading: response.body)
        let code = envelope.code ?? "unknown_error"
        let retryAfter = response.retryAfter ?? envelope.retryAfter
        let requestID = response.requestID ?? envelope.requestID
        let kind: BackendError.Kind =
            Self.wantsAttestation(response)
            ? .invalidConfiguration : Self.kind(response.status, envelope, response.challenge)
        var message = "The backend refused to \(purpose) at \(place): status \(response.status), \(code)"
        if let text = envelope.message { message += ", \"\(text)\"" }
        if let requestID { message += " (request \(requestID))" }
        message += ": \(cure(kind, retryAfter))."
        return BackendError(
            kind, message, code: code, status: response.status, requestID: requestID, retryAfter: retryAfter)
    }

    /// What a proxy's refusal to let through is.
    static func refusalOfProxy(_ status: Int) -> BackendError {
        status == 407
            ? BackendError(
                .unauthorized,
                "The proxy in [backend] does not take our credentials: put USER:PASSWORD for it into proxy_credential.",
                status: status)
            : BackendError(
                .unreachable,
                "The proxy in [backend] refused the way to the backend (status \(status)): ask who runs it.",
                status: status)
    }

    private static func kind(_ status: Int, _ envelope: ErrorEnvelope, _ challenge: String?) -> BackendError.Kind {
        switch status {
        case 401, 407: return .unauthorized
        case 403:
            // A 403 may be about what this user may do, which is the backend's own no, or about who asks.
            let code = envelope.code?.lowercased() ?? ""
            let isAboutCredentials = [
                "token", "key", "credential", "unauthorized", "unauthenticated", "expired", "signature",
            ]
            .contains { code.firstPlace(of: $0) != nil }
            return isAboutCredentials || challenge != nil ? .unauthorized : .refused
        case 429, 503: return .busy
        default: return .refused
        }
    }

    private func cure(_ kind: BackendError.Kind, _ retryAfter: Duration?) -> String {
        switch (response.status, kind) {
        case (_, .invalidConfiguration):
            "it wants App Attest, which only an Apple device can give; have the voice's route exempted from it"
        case (407, _): "the proxy wants credentials; put USER:PASSWORD into the file of proxy_credential in [backend]"
        case (_, .unauthorized): "put a fresh secret into the credential files named in [backend]"
        case (300..<400, _): "it sends elsewhere, which is not followed; write the final address as url in [backend]"
        case (403, _): "ask the backend's operator what this key and user may do"
        case (404, _): "check url and chat in [backend]"
        case (_, .busy):
            retryAfter.map { "it asks to be left alone for \(Int($0.components.seconds)) s" } ?? "try again later"
        case (400..<500, _): "check url, chat and kind in [backend]"
        default: "look into the backend's own log"
        }
    }
}
