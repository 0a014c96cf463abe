internal import Glibc

/// An address of one of the machine's network interfaces that a voice can be carried on.
struct InterfaceAddress: Hashable {
    var name: String
    var ip: IPAddress
}

/// Reads the machine's addresses (getifaddrs(3)).
enum NetworkInterfaces {
    /// Every usable address: its interface is up and running; no loopback unless asked for; no link-local IPv6, which leads
    /// nowhere a provider could be (RFC 8445 5.1.1.1 lets it be left out).
    static func usable(configuration: VoiceConfiguration) -> [InterfaceAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [InterfaceAddress] = []
        var next = list
        while let entry = next {
            defer { next = entry.pointee.ifa_next }
            let flags = entry.pointee.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_RUNNING) != 0,
                let name = entry.pointee.ifa_name.map({ String(cString: $0) }),
                let address = entry.pointee.ifa_addr.flatMap(ipAddress),
                configuration.interfaces.map({ $0.contains(name) }) ?? true
            else { continue }
            if address.isLoopback && !configuration.offersLoopback { continue }
            if address.isIPv6 && address.isLinkLocal { continue }
            let interface = InterfaceAddress(name: name, ip: address)
            if !found.contains(interface) { found.append(interface) }
        }
        return found
    }

    private static func ipAddress(_ address: UnsafeMutablePointer<sockaddr>) -> IPAddress? {
        var storage = sockaddr_storage()
        let size: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
        }
        return SocketAddress(storage)?.ip
    }
}
