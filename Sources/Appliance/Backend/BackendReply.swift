import VoiceCore

/// Reads what the backend's two routes answer. Pure; status and type are checked before anything is read as SDP.
struct BackendReply {
    /// What was asked, for errors: "start a voice".
    let purpose: String
    /// Where it was asked, without a query.
    let url: String

    /// The voice started and the provider's answer.
    /// - Throws: `refused` for any status but 2xx, `invalidAnswer` for a 2xx that cannot be used.
    func startedVoice(_ response: HTTPResponse) throws(BackendError) -> PBStartedVoice {
        let fields = try success(response)
        guard let id = fields.id, !id.isEmpty, id.utf8.count <= 512 else {
            throw invalid(response, "has no usable voice id in it")
        }
        guard let sdp = fields.sdp, !sdp.isEmpty else { throw invalid(response, "has no sdp in it") }
        guard sdp.hasPrefix("v=0") else {  // RFC 8866 5.1: the only version there is
            throw invalid(response, "holds an sdp that does not begin with v=0")
        }
        return PBStartedVoice(id: id, sdp: sdp)
    }

    /// How long the closed voice lasted.
    /// - Throws: as `startedVoice`.
    func seconds(_ response: HTTPResponse) throws(BackendError) -> Double {
        guard let seconds = try success(response).seconds, seconds.isFinite, seconds >= 0 else {
            throw invalid(response, "has no usable number of seconds in it")
        }
        return seconds
    }

    /// The id of a voice that the answer says was started, be the rest of it usable or not: it must be closed.
    static func voiceToClose(_ response: HTTPResponse) -> String? {
        response.isSuccess ? Fields(reading: response.body)?.id : nil
    }

    private func success(_ response: HTTPResponse) throws(BackendError) -> Fields {
        guard response.isSuccess else { throw refusal(response) }
        switch response.completeness {
        case .whole: break
        case .truncated: throw invalid(response, "ended before it was whole")
        case .oversized: throw invalid(response, "is longer than \(HTTPResponse.bodyLimit) bytes")
        }
        guard response.isJSON else {
            let type = response.mediaType.map(ErrorEnvelope.readable) ?? "of no type"
            throw invalid(response, "is \(type), not application/json")
        }
        guard let fields = Fields(reading: response.body) else { throw invalid(response, "is not a JSON object") }
        return fields
    }

    private func invalid(_ response: HTTPResponse, _ why: String) -> BackendError {
        BackendError(
            .invalidAnswer,
            """
            The backend was asked to \(purpose) at \(url), but its answer (status \(response.status)) \(why): check url \
            in [backend], and what serves it.
            """,
            status: response.status, requestID: response.requestID)
    }

    private func refusal(_ response: HTTPResponse) -> BackendError {
        let envelope = ErrorEnvelope(reading: response.body)
        let code = envelope.code ?? "unknown_error"
        let retryAfter = response.retryAfter ?? envelope.retryAfter
        let requestID = response.requestID ?? envelope.requestID
        var message = "The backend refused to \(purpose) at \(url): status \(response.status), \(code)"
        if let text = envelope.message { message += ", \"\(text)\"" }
        if let requestID { message += " (request \(requestID))" }
        message += ": \(cure(response.status, retryAfter))."
        return BackendError(
            .refused, message, code: code, status: response.status, requestID: requestID, retryAfter: retryAfter)
    }

    private func cure(_ status: Int, _ retryAfter: Duration?) -> String {
        switch status {
        case 300..<400: "it sends elsewhere, which is not followed; write the final address as url in [backend]"
        case 401: "put a fresh secret into the credential files named in [backend]"
        case 403: "ask the backend's operator what this key and user may do"
        case 404: "check url and chat in [backend]"
        case 429, 503:
            retryAfter.map { "it asks to be left alone for \(Int($0.components.seconds)) s" } ?? "try again later"
        case 400..<500: "check url and chat in [backend]"
        default: "look into the backend's own log"
        }
    }
}

/// The fields of both routes' answers; wrongly typed ones count as missing.
private struct Fields {
    var id: String?
    var sdp: String?
    var seconds: Double?

    init?(reading body: [UInt8]) {
        guard let fields = JSONValue(reading: body), case .object = fields else { return nil }
        id = fields["id"]?.text
        sdp = fields["sdp"]?.text
        seconds = fields["seconds"]?.number
    }
}
