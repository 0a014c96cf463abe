import VoiceCore

/// The keys of [network].
extension ConfigKey {
    static let network: [ConfigKey] = [
        ConfigKey(
            "network", "interfaces", "names of network interfaces between commas, such as eth0, wlan0", mayBeEmpty: true
        ) {
            let names = ConfigValue.list($0)
            // IFNAMSIZ, 16 with its final zero (netdevice(7)).
            guard names.allSatisfy({ $0.utf8.count <= 15 && !$0.contains(" ") && !$0.contains("/") }) else {
                return false
            }
            $1.network.interfaces = names
            return true
        },
        ConfigKey("network", "loopback", "yes or no") {
            guard let value = ConfigValue.yesOrNo($0) else { return false }
            $1.network.offersLoopback = value
            return true
        },
        ConfigKey(
            "network", "ice_servers",
            "at most \(ICEServer.limit) servers between commas, such as stun:HOST, turns:HOST",
            showsValue: false, mayBeEmpty: true, explain: { mistake(inServers: $0) }
        ) {
            let urls = ConfigValue.list($0)
            guard (1...ICEServer.limit).contains(urls.count), urls.allSatisfy({ ICEServer.mistake(in: $0) == nil })
            else { return false }
            $1.network.iceServers = urls
            return true
        },
        .credential("network", "turn_credential", \.network.turnCredential),
        ConfigKey(
            "network", "proxy", "an http:// address with a host, perhaps a port, and nothing else", showsValue: false,
            mayBeEmpty: true
        ) {
            guard let proxy = WebAddress($0), !proxy.isSecure, proxy.target == "/" else { return false }
            $1.network.proxy = proxy.origin
            return true
        },
        .credential("network", "proxy_credential", \.network.proxyCredential),
    ]

    private static func mistake(inServers value: String) -> (what: String, cure: String)? {
        for url in ConfigValue.list(value) {
            guard let (what, cure) = ICEServer.mistake(in: url) else { continue }
            // What stands before an @ may be a password.
            let name = url.contains("@" as Character) ? "a server" : "the server \(INILines.quoted(url))"
            return ("\(name) in ice_servers cannot be used: \(what)", cure)
        }
        return nil
    }
}
