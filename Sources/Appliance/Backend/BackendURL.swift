/// The URLs of a voice's routes, filled in from the config's templates.
///
/// Pure. `{chat}` and `{voice}` are percent-encoded as one path segment (RFC 3986 2.3), so that no id can change the path.
/// `{location}`, at a template's beginning, is the address that the backend gave the voice.
struct BackendURL: Sendable {
    private let startTemplate: String
    /// nil: the kind has a way of its own.
    private let closeTemplate: String?
    private let answerTemplate: String
    private let chat: String
    /// Whether the config says where a voice is closed.
    let hasCloseURL: Bool

    /// - Throws: `invalidConfiguration` for anything but an http or https URL without user, password, blank or fragment.
    init(_ settings: BackendSettings) throws(BackendError) {
        try Self.check(settings.url, key: "url")
        startTemplate = settings.url
        hasCloseURL = settings.closeURL?.isEmpty == false
        if let closeURL = settings.closeURL, !closeURL.isEmpty {
            closeTemplate = closeURL
            try Self.checkClose(closeURL, settings.kind)
        } else {
            switch settings.kind {
            case .contract, .answer: closeTemplate = Self.appending("/{voice}/close", to: settings.url)
            case .whip, .pipecat: closeTemplate = nil
            }
        }
        answerTemplate = settings.answerURL ?? Self.appending("/{voice}/answer", to: settings.url)
        if let answerURL = settings.answerURL { try Self.check(answerURL, key: "answer_url") }
        guard settings.url.firstPlace(of: "{chat}") == nil || Self.isSegment(settings.chat) else {
            throw BackendError(
                .invalidConfiguration, "The key chat in [backend] is empty or a path: write the chat's id there.")
        }
        chat = settings.chat
    }

    /// Behind the path and before the query.
    private static func appending(_ text: String, to url: String) -> String {
        let end = url.firstIndex(of: "?") ?? url.endIndex
        var path = url[..<end]
        while path.last == "/" { path.removeLast() }
        return "\(path)\(text)\(url[end...])"
    }

    private static func checkClose(_ url: String, _ kind: BackendKind) throws(BackendError) {
        let location = "{location}"
        if url.hasPrefix(location) {
            guard kind == .whip else {
                throw BackendError(
                    .invalidConfiguration,
                    "The key close_url in [backend] has {location} in it, which only kind = whip gives: write an address."
                )
            }
            return
        }
        try check(url, key: "close_url")
        guard url.firstPlace(of: location) == nil else {
            throw BackendError(
                .invalidConfiguration,
                "The key close_url in [backend] has {location} in its midst: it is a whole address.")
        }
        guard url.firstPlace(of: "{voice}") != nil else {
            throw BackendError(
                .invalidConfiguration,
                "The key close_url in [backend] lacks {voice}: write it where the voice's id belongs.")
        }
    }

    var start: String { startTemplate.filling("{chat}", with: chat.percentEncoded) }

    /// Where the answer to a voice's offer is posted.
    func answer(_ id: String) -> String {
        answerTemplate.filling("{chat}", with: chat.percentEncoded).filling("{voice}", with: id.percentEncoded)
    }

    /// Where a voice is closed; nil for an id that cannot be a path segment, or where there is no such address.
    func close(_ voice: UnclosedVoice) -> String? {
        guard let closeTemplate else { return voice.location }
        guard Self.isSegment(voice.id) else { return nil }
        let filled = closeTemplate.filling("{chat}", with: voice.chat.percentEncoded)
            .filling("{voice}", with: voice.id.percentEncoded)
        guard filled.hasPrefix("{location}") else { return filled }
        let rest = filled.dropFirst("{location}".count)
        return voice.location.map { location -> String in
            let path = location.prefix { $0 != "?" }
            return String(path + rest + location[path.endIndex...])
        }
    }

    /// The scheme, host and port with "/" as the path: what a connection is opened ahead to.
    var origin: String { Self.origin(of: startTemplate) + "/" }

    /// A URL as it may stand in an error or a log: a query may carry a secret.
    static func withoutQuery(_ url: String) -> String {
        String(url.prefix { $0 != "?" })
    }

    /// "." and ".." would be taken out of the path on the way (RFC 3986 5.2.4), encoded or not.
    static func isSegment(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".." && text.utf8.count <= 512
    }

    private static func origin(of url: String) -> String {
        guard let scheme = url.firstPlace(of: "://") else { return url }
        return String(url[..<scheme.upperBound] + url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }

    private static func check(_ url: String, key: String) throws(BackendError) {
        func refuse(_ why: String) -> BackendError {
            BackendError(
                .invalidConfiguration,
                "The key \(key) in [backend] \(why): write http://HOST/PATH or https://HOST/PATH there.")
        }
        let lower = url.lowercased()
        guard lower.hasPrefix("https://") || lower.hasPrefix("http://") else { throw refuse("is no web address") }
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw refuse("has a blank or control character in it")
        }
        guard !url.contains("#" as Character) else { throw refuse("has a # in it") }
        let origin = origin(of: url)
        guard !origin.hasSuffix("/") else { throw refuse("names no host") }
        guard !origin.contains("@" as Character) else {
            throw refuse("has a user name in it, but secrets belong in credential files")
        }
        guard !origin.contains("{" as Character) else { throw refuse("has a placeholder in its host") }
    }
}

extension String {
    /// All but RFC 3986's unreserved characters as %XX.
    var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
