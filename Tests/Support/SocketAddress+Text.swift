@testable import VoiceCore

extension SocketAddress {
    /// "192.0.2.1:5000" or "[2001:db8::1]:5000"; an unreadable one is 0.0.0.0:0, which no test uses. A link-local one
    /// belongs to interface 7.
    init(_ text: String) {
        let parts = text.split(separator: ":")
        let port = parts.last.flatMap { UInt16($0) } ?? 0
        let host = text.dropLast((parts.last?.count ?? 0) + 1).filter { $0 != "[" && $0 != "]" }
        var ip = IPAddress(host) ?? .v4(0)
        if ip.isLinkLocal, case .v6(let high, let low, _) = ip { ip = .v6(high: high, low: low, scope: 7) }
        self.init(ip: ip, port: port)
    }
}
