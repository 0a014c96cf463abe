/// A failure that can be asked of the provider, to see how a client takes it. Pure.
enum Failure: Equatable, Sendable {
    case invalidToken
    case forbidden
    case notFound
    case conflict
    case rateLimited
    case handlerError
    case badGateway
    case unavailable
    case garbage
    case wrongType
    case truncated
    case noSDP
    case slow(Duration)
    case hang
    case close

    /// As `--help` shows them; a status may stand for the name.
    static let table: [(name: String, status: String?, meaning: String)] = [
        ("invalid_token", "401", "status 401, {error, message}"),
        ("forbidden", "403", "status 403, {error, message}"),
        ("not_found", "404", "status 404, {error, path, method}"),
        ("conflict", "409", "status 409, {error, error_description, status, request_id, data}"),
        ("rate_limited", "429", "status 429, retry-after of 3 s"),
        ("handler_error", "500", "status 500, {error, message, stack}"),
        ("bad_gateway", "502", "status 502, a page of HTML"),
        ("unavailable", "503", "status 503, {message}, retry-after of 5 s"),
        ("garbage", nil, "status 200, JSON that is none"),
        ("wrong-type", nil, "status 200, the answer as text/html"),
        ("truncated", nil, "status 200, half of the answer, then the connection is closed"),
        ("no-sdp", nil, "status 200, an id but no sdp"),
        ("slow:SECONDS", nil, "the right answer, so much later"),
        ("hang", nil, "no answer, ever"),
        ("close", nil, "the connection is closed without an answer"),
    ]

    init?(_ text: String) {
        if text.hasPrefix("slow:") {
            guard let seconds = Double(text.dropFirst(5)), (0...3600).contains(seconds) else { return nil }
            self = .slow(.milliseconds(Int64(seconds * 1000)))
            return
        }
        switch text {
        case "invalid_token", "401": self = .invalidToken
        case "forbidden", "403": self = .forbidden
        case "not_found", "404": self = .notFound
        case "conflict", "409": self = .conflict
        case "rate_limited", "429": self = .rateLimited
        case "handler_error", "500": self = .handlerError
        case "bad_gateway", "502": self = .badGateway
        case "unavailable", "503": self = .unavailable
        case "garbage": self = .garbage
        case "wrong-type": self = .wrongType
        case "truncated": self = .truncated
        case "no-sdp": self = .noSDP
        case "hang": self = .hang
        case "close": self = .close
        default: return nil
        }
    }

    /// Whether the voice is started or closed all the same, and only its answer is spoilt.
    var comesAfterTheDeed: Bool {
        switch self {
        case .wrongType, .truncated, .slow: true
        case .invalidToken, .forbidden, .notFound, .conflict, .rateLimited, .handlerError, .badGateway, .unavailable,
            .garbage, .noSDP, .hang, .close:
            false
        }
    }

    /// What goes out instead of `answer`, which is the deed's where the failure comes after it; a deed that failed by itself
    /// is not spoilt further.
    func reply(to request: HTTPRequest, insteadOf answer: HTTPReply) -> HTTPReply {
        if comesAfterTheDeed, !(200..<300).contains(answer.status) { return answer }
        return switch self {
        case .invalidToken: .error(401, "invalid_token", "The token is expired or not valid.")
        case .forbidden: .error(403, "forbidden", "This user may not start a voice here.")
        case .notFound:
            HTTPReply(
                404, json: ["error": .text("not_found"), "path": .text(request.path), "method": .text(request.method)])
        case .conflict:
            HTTPReply(
                409,
                json: [
                    "error": .text("voice_busy"), "error_description": .text("The chat has a voice already."),
                    "status": .number(409), "request_id": .text("req_409"),
                    "data": .object(["retryAfter": .number(30)]),
                ])
        case .rateLimited:
            HTTPReply(
                429,
                json: [
                    "error": .text("rate_limited"), "message": .text("Too many voices were started."),
                    "retry_after": .number(3),
                ], headers: [("Retry-After", "3"), ("X-RateLimit-Limit", "10"), ("X-RateLimit-Remaining", "0")])
        case .handlerError:
            HTTPReply(
                500,
                json: [
                    "error": .text("handler_error"), "message": .text("The handler failed."),
                    "stack": .text("Error: the handler failed\n    at start (voice.controller.ts:11:5)"),
                ])
        case .badGateway:
            HTTPReply(502, type: "text/html", body: "<html><head><title>502 Bad Gateway</title></head></html>\n")
        case .unavailable:
            HTTPReply(503, json: ["message": .text("No server is free.")], headers: [("Retry-After", "5")])
        case .garbage: HTTPReply(200, type: "application/json", body: "{\"id\": \"voice-1\", \"sdp\": v=0")
        case .wrongType: HTTPReply(200, type: "text/html", body: answer.body)
        case .truncated: HTTPReply(200, type: "application/json", body: answer.body, ending: .truncated)
        case .noSDP: HTTPReply(200, json: ["id": .text("voice-without-sdp")])
        case .slow, .hang: answer
        case .close: HTTPReply(0, type: "", body: "", ending: .closedWithoutAnswer)
        }
    }
}
