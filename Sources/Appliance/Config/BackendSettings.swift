/// What the config's [backend] section says.
struct BackendSettings: Sendable, Equatable {
    /// Where a voice is started: an http or https URL with `{chat}` in its path.
    var url: String
    /// Where a voice is closed, with `{chat}` and `{voice}`; nil: `url` with `/{voice}/close` after its path.
    var closeURL: String?
    /// The chat that is talked to.
    var chat: String
    /// The file with the `apikey` header's value: a name in `credentialsDirectory`, or an absolute path; nil: no such header.
    var apikeyCredential: String?
    /// The file with the bearer token, named likewise; nil: no Authorization header.
    var bearerCredential: String?
    /// How long one request may take in all, its connection included.
    var timeout: Duration = .seconds(10)
    /// Where credential files named without a path lie: $CREDENTIALS_DIRECTORY, as systemd's LoadCredential= sets it.
    var credentialsDirectory: String?
}
