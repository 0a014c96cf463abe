import Testing

@testable import VoiceCore

@Suite struct STUNServerURLTests {
    struct Row: Sendable {
        var text: String
        var service: STUNServerURL.Service
        var transport: STUNServerURL.Transport
        var host: String
        var port: UInt16

        static let all = [
            Row(
                text: "stun:stun.example.org", service: .reflection, transport: .udp, host: "stun.example.org",
                port: 3478),
            Row(text: "STUN:192.0.2.1:99", service: .reflection, transport: .udp, host: "192.0.2.1", port: 99),
            Row(
                text: "turn:relay.example.org", service: .relay, transport: .udp, host: "relay.example.org", port: 3478),
            Row(text: "turn:relay:1?transport=tcp", service: .relay, transport: .tcp, host: "relay", port: 1),
            Row(
                text: "turns:relay.example.org", service: .relay, transport: .tls, host: "relay.example.org", port: 5349
            ),
            Row(
                text: "turns:[2001:db8::1]:443?transport=tcp", service: .relay, transport: .tls, host: "2001:db8::1",
                port: 443),
        ]
    }

    @Test(arguments: Row.all)
    func aURLSaysServiceTransportHostAndPort(row: Row) throws {
        let url = try #require(STUNServerURL(row.text))
        #expect(url.service == row.service)
        #expect(url.transport == row.transport)
        #expect(url.host == row.host)
        #expect(url.port == row.port)
    }

    @Test(arguments: [
        "", "stun", "stun:", "stun::1", "http://a", "stun:a:0", "stun:a:65536", "stun:a:x", "stuns:a",
        "turn:a?transport=sctp",
        "turn:a?x=y", "turns:a?transport=udp", "stun:a b", "stun:[1.2.3.4]", "stun:[::1", "stun:a/b", "stun:user@a",
    ])
    func whatIsNoSuchURLIsNone(text: String) {
        #expect(STUNServerURL(text) == nil)
    }

    @Test(arguments: Row.all)
    func whatCanBeUsedIsNoMistake(row: Row) {
        #expect(STUNServerURL.mistake(in: row.text) == nil)
    }

    @Test(arguments: [
        ("", STUNServerURL.Mistake.scheme), ("http://a", .scheme), ("stuns:a", .transportOfReflection),
        ("stun:a?transport=udp", .transportOfReflection), ("turn:a?transport=sctp", .transportOfRelay),
        ("turns:a?transport=udp", .transportOfRelay), ("turn:a?x=y", .transportOfRelay), ("stun:a:0", .place),
        ("turn:", .place), ("turn:[::1", .place), ("turn:a b", .place), ("turn:me:word@a", .account),
    ])
    func aMistakeIsKnown(text: String, mistake: STUNServerURL.Mistake) {
        #expect(STUNServerURL.mistake(in: text) == mistake)
    }
}
