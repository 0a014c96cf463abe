/// An address of one of the machine's network interfaces, with what decides whether and when it is used.
struct InterfaceAddress: Hashable {
    var name: String
    var ip: IPAddress
    /// The interface is no device but software: a bridge, one end of a cable between containers, a tunnel.
    var isVirtual = false
    /// Changed from time to time, so that nobody is known by it (RFC 8981).
    var isTemporary = false
    /// Not to be used for anything new, not yet known to be ours alone, or known not to be (RFC 4862 2).
    var isUnfit = false
}

/// Which addresses a voice is carried on, and in which order. Pure.
enum InterfaceChoice {
    // A box has one network or two, in two families. Containers may give it dozens of bridges, of which none leads to a provider;
    // they are not left out, since a test bench or a router in a container may have nothing else.
    static let limit = 8
    static let virtualLimit = 2

    /// The best first: devices before software, and within each kind the families by turns, IPv6 first (RFC 8421 4), so that neither
    /// waits for all of the other.
    static func choose(_ addresses: [InterfaceAddress]) -> [InterfaceAddress] {
        var kept: [InterfaceAddress] = []
        for address in addresses where !address.isUnfit && isOfUse(address.ip) && !kept.contains(address) {
            // RFC 8445 5.1.1.1: where there is a temporary address, the one that betrays the machine is not told.
            let hasTemporary = addresses.contains {
                $0.isTemporary && !$0.isUnfit && $0.name == address.name && $0.ip.prefix64 == address.ip.prefix64
            }
            if address.ip.isIPv6, !address.isTemporary, hasTemporary { continue }
            kept.append(address)
        }
        let real = byTurns(kept.filter { !$0.isVirtual })
        let virtual = byTurns(kept.filter(\.isVirtual)).prefix(real.isEmpty ? limit : virtualLimit)
        return Array((real + virtual).prefix(limit))
    }

    private static func byTurns(_ addresses: [InterfaceAddress]) -> [InterfaceAddress] {
        // RFC 6724 2.1: of IPv6's a global one before a local one (fc00::/7).
        let six = addresses.filter { $0.ip.isIPv6 && !$0.ip.isUniqueLocal } + addresses.filter(\.ip.isUniqueLocal)
        let four = addresses.filter { !$0.ip.isIPv6 }
        var mixed: [InterfaceAddress] = []
        for index in 0..<max(six.count, four.count) {
            if index < six.count { mixed.append(six[index]) }
            if index < four.count { mixed.append(four[index]) }
        }
        return mixed
    }

    /// Not: link-local IPv6, which leads nowhere a provider could be, and the deprecated fec0::/10 (RFC 8445 5.1.1.1).
    private static func isOfUse(_ ip: IPAddress) -> Bool {
        switch ip {
        case .v4: true
        case .v6(let high, _, _): !ip.isLinkLocal && high >> 54 != 0x3FB
        }
    }
}

extension IPAddress {
    /// fc00::/7 (RFC 4193).
    fileprivate var isUniqueLocal: Bool {
        switch self {
        case .v4: false
        case .v6(let high, _, _): high >> 57 == 0x7E
        }
    }

    fileprivate var prefix64: UInt64? {
        switch self {
        case .v4: nil
        case .v6(let high, _, _): high
        }
    }
}
