/// What the config's [backend] section says.
struct BackendSettings: Sendable, Equatable {
    var kind = BackendKind.contract
    /// Where a voice is started: an http or https URL with `{chat}` in its path.
    var url: String
    /// Where a voice is closed, with `{chat}` and `{voice}`, or `{location}`; nil: as the kind has it.
    var closeURL: String?
    /// Where our answer is posted, with `{chat}` and `{voice}`; nil: `url` with `/{voice}/answer` after its path.
    var answerURL: String?
    /// The chat that is talked to.
    var chat: String
    /// The file with the `apikey` header's value: a name in `credentialsDirectory`, or an absolute path; nil: no such header.
    var apikeyCredential: String?
    /// The file with the bearer token, named likewise; nil: no Authorization header.
    var bearerCredential: String?
    /// Where a new bearer token is asked for; nil: it is not.
    var refreshURL: String?
    /// The file with the refresh token.
    var refreshCredential: String?
    var refreshBody = RefreshBody.json
    /// How long one request may take in all, its connection included.
    var timeout: Duration = .seconds(8)

    /// A PEM file with the only CAs that are trusted.
    var caFile: String?
    /// The files with our certificate and its key, named as the others.
    var clientCertificate: String?
    var clientKey: String?
    /// "sha256//…", several between semicolons.
    var pinnedKeys: String?
    /// An http or https URL without a path.
    var proxy: String?
    /// The file with USER:PASSWORD for the proxy.
    var proxyCredential: String?

    /// Where credential files named without a path lie: $CREDENTIALS_DIRECTORY, as systemd's LoadCredential= sets it.
    var credentialsDirectory: String?
    /// Where open voices and a rotated refresh token are kept; nil: nowhere.
    var stateDirectory: String?

    init(
        kind: BackendKind = .contract, url: String, closeURL: String? = nil, chat: String,
        timeout: Duration = .seconds(8)
    ) {
        self.kind = kind
        self.url = url
        self.closeURL = closeURL
        self.chat = chat
        self.timeout = timeout
    }
}
