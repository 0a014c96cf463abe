/// An http or https URL in its parts, as far as redirects and credentials depend on them (RFC 3986). Pure.
struct WebAddress: Equatable, Sendable {
    /// "https"
    let scheme: String
    /// Without brackets, in lower case.
    let host: String
    let port: Int
    /// The path and the query, beginning with "/".
    let target: String

    /// The longest address that is followed or kept.
    static let byteLimit = 2048

    /// - Returns: nil for what is no http or https URL, has a user name in it, or anything but visible ASCII. A fragment is left out.
    init?(_ text: String) {
        guard text.utf8.count <= Self.byteLimit, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let colon = text.firstPlace(of: "://")
        else { return nil }
        scheme = text[..<colon.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = text[colon.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@" as Character) else { return nil }
        let tail = rest[authority.endIndex...].prefix { $0 != "#" }
        target = tail.first == "/" ? String(tail) : "/\(tail)"
        var name = authority
        var number: Substring?
        if authority.first == "[", let end = authority.firstIndex(of: "]") {
            name = authority[..<end].dropFirst()
            let after = authority[authority.index(after: end)...]
            guard after.isEmpty || after.first == ":" else { return nil }
            number = after.isEmpty ? nil : after.dropFirst()
        } else if let end = authority.firstIndex(of: ":") {
            name = authority[..<end]
            number = authority[authority.index(after: end)...]
        }
        host = name.lowercased()
        guard !host.isEmpty, let port = number.map({ UInt16($0) }) ?? (scheme == "https" ? 443 : 80) else { return nil }
        self.port = Int(port)
    }

    var isSecure: Bool { scheme == "https" }

    /// Whether credentials for the one may be shown to the other (RFC 6454 5).
    func hasOrigin(of other: WebAddress) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// Whose host it is, roughly: the last two labels of a name, the whole of an IP address.
    var site: String {
        let labels = host.split(separator: ".")
        let isAddress = host.contains(":" as Character) || labels.last.map { $0.allSatisfy { $0.isNumber } } ?? true
        return isAddress ? host : labels.suffix(2).joined(separator: ".")
    }

    var text: String { origin + target }

    /// Scheme, host and port.
    var origin: String {
        let name = host.contains(":" as Character) ? "[\(host)]" : host
        let isUsual = port == (isSecure ? 443 : 80)
        return "\(scheme)://\(name)\(isUsual ? "" : ":\(port)")"
    }

    /// Where a reference in an answer from here leads (RFC 3986 5.2); nil where it is none that can be followed.
    func resolving(_ reference: String) -> WebAddress? {
        let reference = String(reference.prefix { $0 != "#" })
        if reference.firstPlace(of: "://") != nil { return WebAddress(reference) }
        if reference.hasPrefix("//") { return WebAddress("\(scheme):\(reference)") }
        let path = target.prefix { $0 != "?" }
        if reference.isEmpty { return self }
        if reference.hasPrefix("/") { return WebAddress(origin + Self.withoutDots(reference)) }
        if reference.hasPrefix("?") { return WebAddress("\(origin)\(path)\(reference)") }
        let folder = path[...(path.lastIndex(of: "/") ?? path.startIndex)]
        return WebAddress(origin + Self.withoutDots(folder + reference))
    }

    /// RFC 3986 5.2.4, of the path alone.
    private static func withoutDots(_ text: String) -> String {
        let path = text.prefix { $0 != "?" }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".": if isLast { kept.append("") }
            case "..":
                if !kept.isEmpty { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return "/" + kept.joined(separator: "/") + text[path.endIndex...]
    }
}
