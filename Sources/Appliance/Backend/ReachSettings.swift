import VoiceCore

/// What voices may use to reach the provider beside the post's own sockets: the config's servers and proxy, with their credentials as the
/// files hold them at the press. Its values are in no description.
struct ReachSettings: Sendable {
    /// What one voice uses.
    struct Current: Sendable {
        var servers: [ICEServer] = []
        var proxy: VoiceProxy?
        /// What is left out, and why: a sentence each. It keeps no voice from being tried.
        var problems: [String] = []
    }

    private let urls: [String]
    private let turnCredential: String?
    private let proxy: WebAddress?
    private let proxyCredential: (name: String, section: String)?
    private let directory: String?

    init(_ configuration: Configuration) {
        let network = configuration.network
        let backend = configuration.backend
        urls = network.iceServers
        turnCredential = network.turnCredential
        directory = backend.credentialsDirectory
        let own = network.proxy.flatMap { WebAddress($0) }
        let backends = backend.proxy.flatMap { WebAddress($0) }.flatMap { $0.isSecure ? nil : $0 }
        proxy = own ?? backends
        if let name = network.proxyCredential {
            proxyCredential = (name, "network")
        } else if own == nil, backends != nil, let name = backend.proxyCredential {
            proxyCredential = (name, "backend")
        } else {
            proxyCredential = nil
        }
    }

    /// Whether there is nothing to be read.
    var isEmpty: Bool { urls.isEmpty && proxy == nil }

    /// What does not go together in a config: a sentence each, with the cure.
    static func problems(_ configuration: Configuration) -> [String] {
        let network = configuration.network
        let relay = network.iceServers.first { ICEServer.isRelay($0) }
        var problems: [String] = []
        if let relay, network.turnCredential == nil {
            problems.append(
                "the server \(relay) in ice_servers of [network] lets nobody in without a name; put USER:PASSWORD into a file and name "
                    + "it in turn_credential")
        }
        if relay == nil, network.turnCredential != nil {
            problems.append(
                "turn_credential in [network] is set, but ice_servers has no turn: or turns: server; add one, or remove it"
            )
        }
        if network.proxyCredential != nil, ReachSettings(configuration).proxy == nil {
            problems.append(
                "proxy_credential in [network] is set, but there is no http:// proxy; set proxy, or remove it")
        }
        return problems
    }

    /// Reads the small files that the credentials are in: not for the main actor.
    func current() -> Current {
        var current = Current()
        let relays = urls.filter { ICEServer.isRelay($0) }
        let others = urls.filter { !ICEServer.isRelay($0) }
        if !others.isEmpty { current.servers.append(ICEServer(urls: others)) }
        if !relays.isEmpty, let name = turnCredential {
            do throws(BackendError) {
                let account = try account(name, key: "turn_credential", section: "network")
                current.servers.append(
                    ICEServer(urls: relays, username: account.user, credential: account.password))
            } catch {
                current.problems.append("No relay is used. \(error.message)")
            }
        }
        guard let proxy, let port = UInt16(exactly: proxy.port) else { return current }
        var known = VoiceProxy(host: proxy.host, port: port)
        if let (name, section) = proxyCredential {
            do throws(BackendError) {
                let account = try account(name, key: "proxy_credential", section: section)
                known.credential = "\(account.user):\(account.password)"
            } catch {
                current.problems.append("The proxy is asked without a password. \(error.message)")
            }
        }
        current.proxy = known
        return current
    }

    private func account(_ name: String, key: String, section: String) throws(BackendError) -> Credential.Account {
        try Credential(name, key: key, section: section, directory: directory).readAccount()
    }
}
