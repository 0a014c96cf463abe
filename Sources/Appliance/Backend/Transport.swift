import Glibc

/// How the backend is reached: whom TLS trusts, what we show of ourselves, and the proxy between. Holds no secret but the
/// proxy's account.
struct Transport: Sendable {
    /// A PEM file with the only CAs that are trusted; nil: the system's.
    var caFile: String?
    /// PEM files with our certificate and its key; nil: none is shown.
    var certificatePath: String?
    var keyPath: String?
    /// "sha256//…", several between semicolons; nil: any key of a trusted certificate.
    var pinnedKeys: String?
    /// nil: the backend is asked straight.
    var proxy: String?
    var proxyAccount: Redacted<Credential.Account>?

    /// What must be hidden in errors.
    var secrets: [String] { proxyAccount.map { [$0.reveal().password] } ?? [] }
}

/// The transport as the config has it, whose files are looked at anew for each request.
struct TransportSettings: Sendable {
    private let settings: BackendSettings
    private let certificate: Credential?
    private let key: Credential?
    private let account: Credential?

    /// - Throws: `invalidConfiguration` for settings that cannot work, `credential` for a credential with no directory.
    init(_ settings: BackendSettings) throws(BackendError) {
        func credential(_ name: String?, _ key: String) throws(BackendError) -> Credential? {
            guard let name, !name.isEmpty else { return nil }
            return try Credential(name, key: key, directory: settings.credentialsDirectory)
        }
        self.settings = settings
        certificate = try credential(settings.clientCertificate, "client_certificate_credential")
        key = try credential(settings.clientKey, "client_key_credential")
        account = try credential(settings.proxyCredential, "proxy_credential")
        guard (certificate == nil) == (key == nil) else {
            throw BackendError(
                .invalidConfiguration,
                """
                Only one of client_certificate_credential and client_key_credential in [backend] is set: name the files of both, \
                or of neither.
                """)
        }
        guard account == nil || settings.proxy != nil else {
            throw BackendError(
                .invalidConfiguration, "proxy_credential in [backend] is set, but no proxy: set proxy, or neither.")
        }
        let usesTLS = WebAddress(settings.url.filling("{chat}", with: "c"))?.isSecure == true
        let needsTLS = [
            ("ca_file", settings.caFile), ("client_certificate_credential", settings.clientCertificate),
            ("pinned_key", settings.pinnedKeys),
        ].first { $0.1 != nil }
        if let (name, _) = needsTLS, !usesTLS {
            throw BackendError(
                .invalidConfiguration,
                "\(name) in [backend] is set, but url is no https:// address: nothing would be protected; mend url.")
        }
        if let path = settings.caFile { try Self.check(path, key: "ca_file", holds: "CERTIFICATE") }
    }

    /// What the next request uses.
    /// - Throws: `credential` where a file cannot be used.
    func current() throws(BackendError) -> Transport {
        var transport = Transport(caFile: settings.caFile, pinnedKeys: settings.pinnedKeys, proxy: settings.proxy)
        if let certificate, let key {
            try Self.check(certificate.path, key: certificate.key, holds: "CERTIFICATE")
            try Self.check(key.path, key: key.key, holds: "PRIVATE KEY")
            transport.certificatePath = certificate.path
            transport.keyPath = key.path
        }
        if let account { transport.proxyAccount = Redacted(try account.readAccount()) }
        return transport
    }

    private static func check(_ path: String, key: String, holds what: String) throws(BackendError) {
        // A bundle of every CA there is has 250 KB.
        guard let bytes = SmallFile.read(path, byteLimit: 1 << 20) else {
            throw BackendError(
                .credential,
                "The file \(path) (key \(key) in [backend]) cannot be read: \(String(cString: strerror(errno))).")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.firstPlace(of: "-----BEGIN ") != nil, text.firstPlace(of: "\(what)-----") != nil else {
            throw BackendError(
                .credential,
                "The file \(path) (key \(key) in [backend]) holds no \(what.lowercased()) in PEM form: put one there.")
        }
    }
}
