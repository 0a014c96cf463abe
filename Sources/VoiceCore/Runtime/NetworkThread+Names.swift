/// The names of servers and of the proxy, which are looked up beside all else.
extension NetworkThread {
    /// Servers whose addresses are known are used at once, the others as soon as their names are looked up.
    mutating func learn(_ servers: [ICEServer], at now: Instant) {
        let (hosts, ready) = names.add(servers)
        for server in ready { engine.handle(.server(server), at: now, into: &sink) }
        for host in hosts { lookUp(host) }
    }

    /// Connections are opened through the proxy, and wait until its name is looked up.
    mutating func use(_ proxy: VoiceProxy?, at now: Instant) {
        guard let proxy else { return }
        hasProxy = true
        if let address = IPAddress(proxy.host) {
            engine.handle(.proxy(ReachProxy(proxy, address)), at: now, into: &sink)
        } else {
            awaitedProxy = proxy
            engine.handle(.proxyAwaited, at: now, into: &sink)
            lookUp(proxy.host)
        }
    }

    /// What a lookup has found.
    mutating func take(_ addresses: [IPAddress], of host: String, at now: Instant) {
        let servers = names.found(host, addresses, hasProxy: hasProxy)
        if addresses.isEmpty, servers.isEmpty { engine.handle(.nameMissing(host), at: now, into: &sink) }
        for server in servers { engine.handle(.server(server), at: now, into: &sink) }
        guard let proxy = awaitedProxy, proxy.host == host else { return }
        awaitedProxy = nil
        // There may be a network of one family only.
        var address = addresses.first
        for candidate in addresses.reversed() {
            for entry in sink.sockets where entry.socket.address.ip.isIPv6 == candidate.isIPv6 { address = candidate }
        }
        engine.handle(.proxy(address.map { ReachProxy(proxy, $0) }), at: now, into: &sink)
    }
}

extension ReachProxy {
    fileprivate init(_ proxy: VoiceProxy, _ address: IPAddress) {
        self.init(address: SocketAddress(ip: address, port: proxy.port), credential: proxy.credential)
    }
}
