/// Reads a config file: bytes in, a `Configuration` or everything that is wrong with it out.
///
/// Pure: it opens no file. Whatever the bytes are, it neither traps nor grows beyond its limits, and no message shows a value
/// that could be a secret.
struct ConfigReader {
    /// A config is a page or two; anything larger is some other file.
    static let byteLimit = 1 << 20
    /// More than anyone mends in one go; the rest shows itself at the next try.
    static let problemLimit = 50

    private var configuration = Configuration()
    private var problems: [ConfigProblem] = []
    private var section: Section = .none
    /// On which line each key was set, by "section.key".
    private var lineOfKey: [String: Int] = [:]

    private enum Section {
        /// Before the first heading.
        case none
        case known(String)
        /// Its keys are not looked at: the heading is the problem.
        case unknown
    }

    private init() {}

    /// - Throws: every problem found, up to `problemLimit`; the caller prints them and does not start.
    static func read(_ bytes: [UInt8]) throws(ConfigProblems) -> Configuration {
        guard bytes.count <= byteLimit else {
            let problem = ConfigProblem(
                what: "the file is larger than 1 MiB", cure: "check that --config names the talk post's own config file"
            )
            throw ConfigProblems(problems: [problem])
        }
        var reader = ConfigReader()
        for line in INILines.read(bytes) where reader.problems.count < problemLimit {
            reader.take(line)
        }
        guard reader.problems.isEmpty else {
            throw ConfigProblems(problems: reader.problems, configuration: reader.configuration)
        }
        return reader.configuration
    }

    private mutating func take(_ line: INILine) {
        switch line.content {
        case .section(let name): open(name, line: line.number)
        case .setting(let key, let value): set(key, to: value, line: line.number)
        case .unreadable(let what, let cure): report(line.number, nil, what, cure)
        }
    }

    private mutating func open(_ name: String, line: Int) {
        let names = Self.sections
        if names.contains(name) {
            section = .known(name)
            return
        }
        section = .unknown
        let nearest = ConfigValue.nearest(to: name, among: names)
        let known = "the sections are \(names.joined(separator: ", "))"
        report(
            line, nil, "there is no section \(INILines.quoted(name))",
            nearest.map { "did you mean [\($0)]?" } ?? known)
    }

    private mutating func set(_ key: String, to value: String, line: Int) {
        if Self.namesSecret(key), !value.isEmpty {
            report(
                line, key, "a secret must not stand in the config file",
                "put it in a file of its own that only the service may read and name that file in apikey_credential "
                    + "or bearer_credential")
            return
        }
        let section: String
        switch self.section {
        case .unknown: return
        case .none:
            let homes = ConfigKey.all.filter { $0.name == key }.map { "[\($0.section)]" }
            report(
                line, key, "\(INILines.quoted(key)) stands before the first section",
                homes.first.map { "put it under \($0)" } ?? "put it under its [section]")
            return
        case .known(let name): section = name
        }
        guard let known = ConfigKey.all.first(where: { $0.section == section && $0.name == key }) else {
            report(
                line, key, "there is no key \(INILines.quoted(key)) in [\(section)]", cure(forUnknown: key, in: section)
            )
            return
        }
        if let earlier = lineOfKey.updateValue(line, forKey: "\(section).\(key)") {
            report(line, key, "\(key) was set before, on line \(earlier)", "keep one of the two lines")
            return
        }
        store(value, in: known, line: line)
    }

    private mutating func store(_ value: String, in key: ConfigKey, line: Int) {
        if value.isEmpty {
            guard !key.mayBeEmpty else { return }
            report(line, key.name, "\(key.name) has no value", "it must be \(key.expectation)")
            return
        }
        if !key.showsValue, Self.looksSecret(value) {
            report(
                line, key.name, "the value of \(key.name) looks like a secret",
                "put the secret in a file that only the service may read; here stands \(key.expectation)")
            return
        }
        guard !key.store(value, &configuration) else { return }
        if let (what, cure) = key.explain(value) { return report(line, key.name, what, cure) }
        let shown = key.showsValue ? " \(INILines.quoted(value))" : ""
        report(line, key.name, "the value\(shown) of \(key.name) cannot be used", "it must be \(key.expectation)")
    }

    private func cure(forUnknown key: String, in section: String) -> String {
        let siblings = ConfigKey.all.filter { $0.section == section }.map(\.name)
        if let home = ConfigKey.all.first(where: { $0.name == key }) {
            return "it belongs under [\(home.section)]"
        }
        if let nearest = ConfigValue.nearest(to: key, among: siblings) { return "did you mean \(nearest)?" }
        return "the keys of [\(section)] are \(siblings.joined(separator: ", "))"
    }

    private mutating func report(_ line: Int, _ key: String?, _ what: String, _ cure: String) {
        problems.append(ConfigProblem(line: line, key: key, what: what, cure: cure))
    }

    private static let sections: [String] = ConfigKey.all.reduce(into: []) { names, key in
        if !names.contains(key.section) { names.append(key.section) }
    }

    /// Whether a key's name says that its value is a secret itself.
    private static func namesSecret(_ key: String) -> Bool {
        guard key.utf8.count <= 64 else { return false }
        let letters = String(key.lowercased().filter { $0 != "_" && $0 != "-" && $0 != " " })
        let names: Set<String> = [
            "apikey", "key", "apitoken", "token", "accesstoken", "bearer", "bearertoken", "authorization", "auth",
            "password", "passwd", "secret", "clientsecret",
        ]
        return names.contains(letters)
    }

    /// Whether a value that should name a place holds a secret instead: a token's usual beginnings (RFC 6750 2.1, the first
    /// letters of a JSON web token's base64url, RFC 7519 3.1), a password or a key within an address (RFC 3986 3.2.1).
    private static func looksSecret(_ value: String) -> Bool {
        let small = value.lowercased()
        if small.hasPrefix("bearer ") || value.hasPrefix("eyJ") || small.hasPrefix("sk-") || small.hasPrefix("sk_") {
            return true
        }
        guard small.hasPrefix("http://") || small.hasPrefix("https://") else { return false }
        let authority = small.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let query = small.drop { $0 != "?" }.dropFirst().split(separator: "&")
        return authority.contains("@") || query.contains { namesSecret(String($0.prefix { $0 != "=" })) }
    }
}
