internal import CLinux
internal import Glibc

/// Reads the machine's addresses (getifaddrs(3)).
enum NetworkInterfaces {
    /// The addresses to use, the best first: of interfaces that are up and running; no loopback unless asked for.
    static func usable(configuration: VoiceConfiguration) -> [InterfaceAddress] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var found: [InterfaceAddress] = []
        let flagsOfSix = flagsOfIPv6Addresses()
        var next = list
        while let entry = next {
            defer { next = entry.pointee.ifa_next }
            let flags = entry.pointee.ifa_flags
            guard flags & UInt32(IFF_UP) != 0, flags & UInt32(IFF_RUNNING) != 0,
                let name = entry.pointee.ifa_name.map({ String(cString: $0) }),
                let address = entry.pointee.ifa_addr.flatMap({ SocketAddress($0)?.ip }),
                configuration.interfaces.map({ $0.contains(name) }) ?? true
            else { continue }
            if address.isLoopback && !configuration.offersLoopback { continue }
            var interface = InterfaceAddress(name: name, ip: address)
            // What is a device says so here; loopback, bridges, tunnels and cables between namespaces do not.
            interface.isVirtual = access("/sys/class/net/\(name)/device", F_OK) != 0
            if let flags = flagsOfSix[address] {
                interface.isTemporary = flags & temporary != 0
                interface.isUnfit = flags & unfit != 0
            }
            found.append(interface)
        }
        return InterfaceChoice.choose(found)
    }

    // IFA_F_TEMPORARY; IFA_F_DADFAILED, IFA_F_DEPRECATED, IFA_F_TENTATIVE (linux/if_addr.h).
    private static let temporary: UInt8 = 0x01
    private static let unfit: UInt8 = 0x08 | 0x20 | 0x40

    /// What /proc/net/if_inet6 says of each address; empty where the kernel has no IPv6. Its lines are: address, interface
    /// number, prefix length, scope and flags in hexadecimal, and the interface's name.
    private static func flagsOfIPv6Addresses() -> [IPAddress: UInt8] {
        guard let file = fopen("/proc/net/if_inet6", "re") else { return [:] }
        defer { fclose(file) }
        var flags: [IPAddress: UInt8] = [:]
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, Int32(line.count), file) != nil {
            let words = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(
                whereSeparator: { $0 == " " || $0 == "\n" })
            guard words.count >= 6, words[0].count == 32, let high = UInt64(words[0].prefix(16), radix: 16),
                let low = UInt64(words[0].suffix(16), radix: 16), let value = UInt8(words[4], radix: 16)
            else { continue }
            flags[.v6(high: high, low: low)] = value
        }
        return flags
    }
}
