import VoiceCore

/// A STUN or TURN server that a backend names: W3C's RTCIceServer, as JSON or as a Link header (RFC 9725 4.6). Pure to read.
struct BackendICEServer: Equatable, Sendable {
    var urls: [String]
    var username: String?
    var credential: Redacted<String>?

    /// More are neither asked for by any provider nor of use.
    static let countLimit = 16

    /// Reads `iceServers`: one object or an array of them. What is none, or names no server, is left out.
    static func read(_ value: JSONValue?) -> [BackendICEServer] {
        switch value {
        case .array(let servers): servers.prefix(countLimit).compactMap(read)
        case .object: value.flatMap(read).map { [$0] } ?? []
        case nil, .null, .bool, .number, .text: []
        }
    }

    private static func read(_ value: JSONValue) -> BackendICEServer? {
        let texts: [String]
        switch value["urls"] ?? value["url"] {
        case .text(let url): texts = [url]
        case .array(let urls): texts = urls.compactMap(\.text)
        case nil, .null, .bool, .number, .object: texts = []
        }
        return BackendICEServer(texts, value["username"]?.text, value["credential"]?.text)
    }

    /// Reads Link headers, each of which may hold several links (RFC 8288 3).
    static func read(links: [String]) -> [BackendICEServer] {
        var found: [BackendICEServer] = []
        for link in links.flatMap(LinkHeader.read) where found.count < countLimit {
            let isServer = link.parameters["rel"]?.split(separator: " ").contains("ice-server") == true
            let type = link.parameters["credential-type"] ?? "password"
            guard isServer, type == "password" else { continue }
            let server = BackendICEServer([link.target], link.parameters["username"], link.parameters["credential"])
            if let server { found.append(server) }
        }
        return found
    }

    /// nil where there is no URL at all, or too much of anything; what the URLs are worth is judged later.
    private init?(_ urls: [String], _ username: String?, _ credential: String?) {
        self.urls = urls.prefix(8).filter { $0.utf8.count <= 512 }
        guard !self.urls.isEmpty, username?.utf8.count ?? 0 <= 512, credential?.utf8.count ?? 0 <= 1024 else {
            return nil
        }
        self.username = username
        self.credential = credential.map { Redacted($0) }
    }
}

extension BackendICEServer {
    /// What a voice can use of these servers, and a sentence for each URL that is left out.
    static func judged(_ servers: [BackendICEServer]) -> (usable: [ICEServer], problems: [String]) {
        var usable: [ICEServer] = []
        var problems: [String] = []
        for server in servers.prefix(ICEServer.limit) {
            var urls: [String] = []
            for url in server.urls {
                if let why = server.problem(of: url) {
                    problems.append("A server that the backend names is left out, \(why).")
                } else {
                    urls.append(url)
                }
            }
            guard !urls.isEmpty else { continue }
            usable.append(ICEServer(urls: urls, username: server.username, credential: server.credential?.reveal()))
        }
        return (usable, problems)
    }

    private func problem(of url: String) -> String? {
        // What stands before an @ is a secret.
        let name = url.contains("@" as Character) ? "whose address is not repeated here" : INILines.quoted(url)
        guard ICEServer.canUse(url) else {
            return "\(ErrorEnvelope.readable(name)): \(ICEServer.mistake(in: url)?.what ?? "it cannot be read")"
        }
        let isKnown = username?.isEmpty == false && credential?.reveal().isEmpty == false
        return ICEServer.isRelay(url) && !isKnown ? "\(name): a relay needs a username and a credential" : nil
    }
}

/// One link of a Link header (RFC 8288 3). Pure; whatever the text is, reading it neither traps nor takes more than its length.
struct LinkHeader: Equatable {
    var target: String
    /// By lower-case name; the first of two of one name counts.
    var parameters: [String: String] = [:]

    static func read(_ text: String) -> [LinkHeader] {
        var links: [LinkHeader] = []
        var rest = text[...]
        while let link = next(&rest) { links.append(link) }
        return links
    }

    private static func next(_ rest: inout Substring) -> LinkHeader? {
        guard let start = rest.firstIndex(of: "<") else { return nil }
        rest = rest[start...].dropFirst()
        guard let end = rest.firstIndex(of: ">") else { return nil }
        var link = LinkHeader(target: String(rest[..<end]))
        rest = rest[end...].dropFirst()
        while true {
            rest = rest.drop { $0 == " " || $0 == "\t" }
            guard rest.first == ";" else { return link }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let name = rest.prefix { $0 != "=" && $0 != ";" && $0 != "," && $0 != " " }.lowercased()
            rest = rest.drop { $0 != "=" && $0 != ";" && $0 != "," }
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop { $0 == " " }
                value = rest.first == "\"" ? quoted(&rest) : plain(&rest)
            }
            if !name.isEmpty, link.parameters[name] == nil { link.parameters[name] = value }
        }
    }

    private static func plain(_ rest: inout Substring) -> String {
        let value = rest.prefix { $0 != ";" && $0 != "," && $0 != " " }
        rest = rest[value.endIndex...]
        return String(value)
    }

    /// A quoted string, in which a backslash takes the next character as it is (RFC 9110 5.6.4).
    private static func quoted(_ rest: inout Substring) -> String {
        var value = ""
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            value.append(character == "\\" ? rest.popFirst() ?? character : character)
        }
        return value
    }
}
