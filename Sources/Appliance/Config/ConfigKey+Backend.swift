/// The keys of [backend].
extension ConfigKey {
    static let backend: [ConfigKey] = [
        .choice("backend", "kind", \.backend.kind),
        ConfigKey(
            "backend", "url", "an http:// or https:// address in which only {chat} stands in braces", showsValue: false
        ) {
            guard isURL($0, placeholders: ["chat"]) else { return false }
            $1.backend.url = $0
            return true
        },
        ConfigKey(
            "backend", "close_url",
            "an http:// or https:// address with {voice} in it, and {chat} if it is needed, or {location} and what follows it",
            showsValue: false, mayBeEmpty: true
        ) {
            guard
                isLocation($0)
                    || isURL($0, placeholders: ["chat", "voice"]) && placeholders(in: $0)?.contains("voice") == true
            else { return false }
            $1.backend.closeURL = $0
            return true
        },
        ConfigKey(
            "backend", "answer_url", "an http:// or https:// address with {voice} in it, and {chat} if it is needed",
            showsValue: false, mayBeEmpty: true
        ) {
            guard isURL($0, placeholders: ["chat", "voice"]), placeholders(in: $0)?.contains("voice") == true else {
                return false
            }
            $1.backend.answerURL = $0
            return true
        },
        ConfigKey("backend", "chat", "the chat's id, at most 200 letters") {
            guard (1...200).contains($0.count) else { return false }
            $1.backend.chat = $0
            return true
        },
        .credential("backend", "apikey_credential", \.backend.apikeyCredential),
        .credential("backend", "bearer_credential", \.backend.bearerCredential),
        .duration("backend", "timeout", .seconds(1) ... .seconds(60), "from 1 s to 60 s", \.backend.timeout),

        ConfigKey("backend", "refresh_url", "an http:// or https:// address", showsValue: false, mayBeEmpty: true) {
            guard isURL($0, placeholders: []) else { return false }
            $1.backend.refreshURL = $0
            return true
        },
        .credential("backend", "refresh_credential", \.backend.refreshCredential),
        .choice("backend", "refresh_body", \.backend.refreshBody),
        ConfigKey("backend", "ca_file", "a PEM file's absolute path", mayBeEmpty: true) {
            guard $0.hasPrefix("/"), let path = path(in: $0, after: "") else { return false }
            $1.backend.caFile = path
            return true
        },
        .credential("backend", "client_certificate_credential", \.backend.clientCertificate),
        .credential("backend", "client_key_credential", \.backend.clientKey),
        ConfigKey(
            "backend", "pinned_key", "sha256// and 44 letters of base64, or several such with ; between them",
            mayBeEmpty: true
        ) {
            guard isPins($0) else { return false }
            $1.backend.pinnedKeys = $0
            return true
        },
        ConfigKey(
            "backend", "proxy", "an http:// or https:// address with a host, perhaps a port, and nothing else",
            showsValue: false,
            mayBeEmpty: true
        ) {
            guard let proxy = WebAddress($0), proxy.target == "/" else { return false }
            $1.backend.proxy = proxy.origin
            return true
        },
        .credential("backend", "proxy_credential", \.backend.proxyCredential),
    ]

    static func credential(
        _ section: String, _ name: String, _ place: WritableKeyPath<Configuration, String?> & Sendable
    ) -> ConfigKey {
        ConfigKey(
            section, name, "the name of a file in the credentials directory, or a file's absolute path",
            showsValue: false, mayBeEmpty: true
        ) {
            guard $0.utf8.count <= 1024, !$0.contains(" ") else { return false }
            // As systemd names credentials: a file name of at most 255 bytes (systemd.exec(5), LoadCredential=).
            let isName = $0.utf8.count <= 255 && !$0.contains("/") && $0 != "." && $0 != ".."
            guard isName || $0.hasPrefix("/") else { return false }
            $1[keyPath: place] = $0
            return true
        }
    }

    private static func isURL(_ value: String, placeholders allowed: Set<String>) -> Bool {
        let scheme = ["http://", "https://"].first { value.lowercased().hasPrefix($0) }
        guard let scheme, value.utf8.count <= 2048, let found = placeholders(in: value), found.isSubset(of: allowed),
            value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return false }
        let host = value.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return !host.isEmpty && !host.contains("{") && !host.hasPrefix(":")
    }

    /// What stands in braces; nil where the braces do not match.
    private static func placeholders(in value: String) -> Set<String>? {
        var found: Set<String> = []
        var open: String?
        for character in value {
            switch (character, open) {
            case ("{", nil): open = ""
            case ("{", _), ("}", nil): return nil
            case ("}", let name?):
                found.insert(name)
                open = nil
            case (_, let name?): open = name + String(character)
            case (_, nil): break
            }
        }
        return open == nil ? found : nil
    }

    /// {location} and a path, in which only {chat} and {voice} stand in braces.
    private static func isLocation(_ value: String) -> Bool {
        let location = "{location}"
        guard value.hasPrefix(location), let found = placeholders(in: value) else { return false }
        let rest = value.utf8.dropFirst(location.utf8.count)
        return found.isSubset(of: ["location", "chat", "voice"]) && rest.count <= 1024
            && (rest.isEmpty || rest.first == UInt8(ascii: "/")) && rest.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// As libcurl takes them (CURLOPT_PINNEDPUBLICKEY): the SHA-256 of a public key has 44 letters in base64.
    private static func isPins(_ value: String) -> Bool {
        let pins = value.split(separator: ";", omittingEmptySubsequences: false)
        return (1...16).contains(pins.count)
            && pins.allSatisfy { pin in
                let letters = pin.dropFirst(8)
                return pin.hasPrefix("sha256//") && letters.utf8.count == 44 && letters.last == "="
                    && letters.dropLast().allSatisfy {
                        $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+" || $0 == "/")
                    }
            }
    }
}
