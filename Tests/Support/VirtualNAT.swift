@testable import VoiceCore

/// A box between hosts and the rest of the network: a NAT of some kind, or a firewall that changes nothing.
final class VirtualNAT {
    /// RFC 4787 4.1 and 5, in the older words of RFC 3489.
    enum Kind: CaseIterable {
        /// One outside port; anyone may send to it.
        case fullCone
        /// One outside port; who was sent to may send back, from any port.
        case addressRestricted
        /// One outside port; only who was sent to may send back.
        case portRestricted
        /// Another outside port for each destination, and only that may send back.
        case symmetric
        /// No translation; only who was sent to may send back.
        case firewall
    }

    private struct Mapping {
        var inside: SocketAddress
        var outside: SocketAddress
        /// Nil: any.
        var remote: SocketAddress?
        var peers: Set<SocketAddress> = []
    }

    let kind: Kind
    /// Its address on the outside; a firewall has none of its own.
    let address: IPAddress
    /// Whether two hosts behind it reach each other by their outside addresses.
    let hairpins: Bool
    /// The addresses behind it that reach each other without it.
    private let insiders: Set<IPAddress>
    private var mappings: [Mapping] = []
    private var nextPort: UInt16 = 20_000

    init(_ kind: Kind, address: IPAddress, hairpins: Bool = false, insiders: Set<IPAddress> = []) {
        self.kind = kind
        self.address = address
        self.hairpins = hairpins
        self.insiders = insiders
    }

    func isAlsoHome(of ip: IPAddress) -> Bool { insiders.contains(ip) }

    /// The address that what `inside` sends is seen under, noted so that answers come back.
    func outside(_ inside: SocketAddress, to: SocketAddress) -> SocketAddress {
        let remote = kind == .symmetric ? to : nil
        if let index = mappings.firstIndex(where: { $0.inside == inside && $0.remote == remote }) {
            mappings[index].peers.insert(to)
            return mappings[index].outside
        }
        nextPort += 1
        let outside = kind == .firewall ? inside : SocketAddress(ip: address, port: nextPort)
        mappings.append(Mapping(inside: inside, outside: outside, remote: remote, peers: [to]))
        return outside
    }

    /// Who `outside` stands for, where `from` may send there.
    func inside(_ outside: SocketAddress, from: SocketAddress) -> SocketAddress? {
        guard let mapping = mappings.first(where: { $0.outside == outside }) else { return nil }
        if from.ip == address, !hairpins { return nil }
        let isOpen =
            switch kind {
            case .fullCone: true
            case .addressRestricted: mapping.peers.contains { $0.ip == from.ip }
            case .portRestricted, .symmetric, .firewall: mapping.peers.contains(from)
            }
        return isOpen ? mapping.inside : nil
    }

    /// Whether a host behind it is reached by its own address.
    func admits(_ inside: SocketAddress, from: SocketAddress) -> Bool {
        if insiders.contains(from.ip) { return true }
        return kind == .firewall && mappings.contains { $0.inside == inside && $0.peers.contains(from) }
    }
}
