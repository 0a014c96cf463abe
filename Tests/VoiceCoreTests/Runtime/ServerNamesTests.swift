import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ServerNamesTests {
    private static let servers = [
        ICEServer(urls: ["stun:a.example", "stun:192.0.2.3:99"]),
        ICEServer(
            urls: ["turn:a.example", "turn:a.example?transport=tcp", "turns:b.example:443"], username: "u",
            credential: "p"),
    ]

    @Test func addressesAreUsedAtOnceAndEachNameIsLookedUpOnce() {
        var names = ServerNames()
        let (hosts, ready) = names.add(Self.servers)
        #expect(hosts == ["a.example", "b.example"])
        #expect(ready.map(\.address) == [SocketAddress("192.0.2.3:99")])
        #expect(names.pending == ["a.example", "b.example"])
    }

    @Test func ofEachFamilyTheFirstAddressIsUsed() {
        var names = ServerNames()
        _ = names.add(Self.servers)
        let addresses = ["2001:db8::1", "192.0.2.1", "192.0.2.2"].compactMap { IPAddress($0) }
        let found = names.found("a.example", addresses, hasProxy: false)
        #expect(found.count == 6)
        #expect(Set(found.map(\.address)) == [SocketAddress("192.0.2.1:3478"), SocketAddress("[2001:db8::1]:3478")])
        #expect(names.pending == ["b.example"])
        #expect(names.found("a.example", addresses, hasProxy: false).isEmpty)
    }

    @Test func aNameThatIsNotFoundIsLeftToTheProxyWhereThereIsOne() {
        var names = ServerNames()
        _ = names.add(Self.servers)
        var straight = names
        #expect(straight.found("a.example", [], hasProxy: false).isEmpty)
        let found = names.found("a.example", [], hasProxy: true) + names.found("b.example", [], hasProxy: true)
        #expect(found.map(\.host) == ["a.example", "b.example"])
        #expect(found.map(\.transport) == [.tcp, .tls])
        #expect(Set(found.map(\.address)).count == 2)
    }

    @Test func aRelayWithoutANameIsNotAsked() {
        var names = ServerNames()
        let (hosts, ready) = names.add([ICEServer(urls: ["turn:a.example", "turn:192.0.2.1"])])
        #expect(hosts.isEmpty)
        #expect(ready.isEmpty)
    }
}
