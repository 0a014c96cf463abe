import VoiceCore

/// A request whose body is in.
struct HTTPRequest: Sendable, Equatable {
    var method: String
    /// Percent-decoded.
    var path: String
    /// The media type, without its parameters; empty where there is none.
    var type = ""
    var body: [UInt8]
}

struct HTTPReply: Sendable, Equatable {
    enum Ending: Sendable {
        case whole
        /// Half of the body is sent, then the connection is closed.
        case truncated
        case closedWithoutAnswer
    }

    var status: Int
    var type: String
    var headers: [(name: String, value: String)] = []
    var body: String
    var ending = Ending.whole

    init(_ status: Int, type: String, body: String, ending: Ending = .whole) {
        self.status = status
        self.type = type
        self.body = body
        self.ending = ending
    }

    init(_ status: Int = 200, json: [String: JSONValue], headers: [(name: String, value: String)] = []) {
        self.init(
            status, type: "application/json", body: String(decoding: JSONValue.object(json).encoded, as: UTF8.self))
        self.headers = headers
    }

    static func error(_ status: Int, _ code: String, _ message: String) -> HTTPReply {
        HTTPReply(status, json: ["error": .text(code), "message": .text(message)])
    }

    static func == (a: HTTPReply, b: HTTPReply) -> Bool {
        a.status == b.status && a.type == b.type && a.body == b.body && a.ending == b.ending
            && a.headers.elementsEqual(b.headers, by: ==)
    }
}

/// Whose manners the backend has; what they are, HANDBOOK.md tells.
enum Kind: String, CaseIterable, Sendable {
    case contract
    case whip
    case pipecat
    case answer

    /// Where a voice is started.
    var path: String {
        switch self {
        case .contract, .answer: "/voice/{chat}"
        case .whip: "/whip/{chat}"
        case .pipecat: "/api/offer"
        }
    }
}

/// Which of a kind's routes a request is for. Pure.
enum Route: Equatable {
    case start(chat: String)
    /// The answer to a voice's offer.
    case answer(voice: String)
    case close(chat: String, voice: String)
    /// A client opens its connection ahead.
    case hello
    case unknown

    init(_ request: HTTPRequest, _ kind: Kind = .contract) {
        let parts = request.path.split(separator: "/", omittingEmptySubsequences: true).map { String($0) }
        switch (kind, request.method, parts.first, parts.count) {
        case (_, "HEAD", _, 0), (_, "GET", _, 0): self = .hello
        case (.contract, "POST", "voice", 2), (.answer, "POST", "voice", 2): self = .start(chat: parts[1])
        case (.contract, "POST", "voice", 4) where parts[3] == "close",
            (.answer, "POST", "voice", 4) where parts[3] == "close":
            self = .close(chat: parts[1], voice: parts[2])
        case (.answer, "POST", "voice", 4) where parts[3] == "answer": self = .answer(voice: parts[2])
        case (.whip, "POST", "whip", 2): self = .start(chat: parts[1])
        case (.whip, "DELETE", "whip", 3): self = .close(chat: parts[1], voice: parts[2])
        case (.whip, "POST", "whip", 4) where parts[3] == "hangup": self = .close(chat: parts[1], voice: parts[2])
        case (.pipecat, "POST", "api", 2) where parts[1] == "offer": self = .start(chat: "pipecat")
        default: self = .unknown
        }
    }
}
