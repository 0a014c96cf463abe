/// The STUN and TURN servers that a voice may use, and which of their names are still being looked up.
///
/// Part of the network thread, and pure but for its place: names go out, addresses come in, servers with addresses come out.
struct ServerNames {
    private struct Entry {
        var url: STUNServerURL
        var username: String
        var password: String
    }

    // Of each family the first; a name with more addresses has them for balance, not for need.
    private static let addressesPerFamily = 1
    // As `Reach` takes.
    private static let limit = Reach.serverLimit

    private var entries: [Entry] = []
    private(set) var pending: Set<String> = []
    private var unknownCount: UInt64 = 0

    /// - Returns: the names that are to be looked up, and the servers whose addresses are written in their URLs.
    mutating func add(_ servers: [ICEServer]) -> (names: [String], ready: [ReachServer]) {
        var names: [String] = []
        var ready: [ReachServer] = []
        for server in servers {
            for url in server.urls.compactMap({ STUNServerURL($0) }) where entries.count < Self.limit {
                // A relay wants to know who we are (RFC 8656 5).
                if url.service == .relay, server.username?.isEmpty ?? true { continue }
                let entry = Entry(url: url, username: server.username ?? "", password: server.credential ?? "")
                if let address = IPAddress(url.host) {
                    ready.append(Self.server(entry, address))
                    continue
                }
                entries.append(entry)
                if pending.insert(url.host).inserted { names.append(url.host) }
            }
        }
        return (names, ready)
    }

    /// What can be used now that `host` is known to have these addresses.
    /// - Parameter hasProxy: whether connections go through a proxy, which is given the name and may know what we do not: networks that
    ///   let nothing out but through it often have no names of the world outside.
    mutating func found(_ host: String, _ addresses: [IPAddress], hasProxy: Bool) -> [ReachServer] {
        pending.remove(host)
        let chosen =
            addresses.filter { !$0.isIPv6 }.prefix(Self.addressesPerFamily)
            + addresses.filter(\.isIPv6).prefix(Self.addressesPerFamily)
        var servers: [ReachServer] = []
        for entry in entries where entry.url.host == host {
            for address in chosen { servers.append(Self.server(entry, address)) }
            guard chosen.isEmpty, hasProxy, entry.url.transport != .udp else { continue }
            unknownCount += 1
            servers.append(Self.server(entry, Self.standIn(unknownCount)))
        }
        entries.removeAll { $0.url.host == host }
        return servers
    }

    /// Another one for each server, where nothing is ever sent to (RFC 6666).
    private static func standIn(_ number: UInt64) -> IPAddress { .v6(high: 0x0100_0000_0000_0000, low: number) }

    private static func server(_ entry: Entry, _ address: IPAddress) -> ReachServer {
        ReachServer(
            service: entry.url.service, transport: entry.url.transport,
            address: SocketAddress(ip: address, port: entry.url.port), host: entry.url.host,
            username: entry.username, password: entry.password)
    }
}
