import Testing
import VoiceCore

@testable import Appliance

@Suite struct WebAddressTests {
    @Test(arguments: [
        ("http://H:8080/a?b#c", "http://h:8080/a?b"), ("HTTPS://h", "https://h/"), ("https://h:443/x", "https://h/x"),
        ("http://[2001:DB8::1]:81/", "http://[2001:db8::1]:81/"), ("http://h?q", "http://h/?q"),
    ])
    func anAddressIsReadAndWritten(text: String, expected: String) {
        #expect(WebAddress(text)?.text == expected)
    }

    @Test(arguments: [
        "", "h", "ftp://h/", "http://", "http://u@h/", "http://h:x/", "http://h:70000/", "http:///a", "http://h/ä",
        "http://[::1/",
        "http://h/\n",
    ])
    func whatIsNoneIsRefused(text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test(arguments: [
        ("/x", "https://h/x"), ("x", "https://h/a/x"), ("../x", "https://h/x"), ("../../../x", "https://h/x"),
        ("./", "https://h/a/"), ("?y", "https://h/a/b?y"), ("//o:1/x", "https://o:1/x"), ("http://o/x", "http://o/x"),
        ("", "https://h/a/b?q"), ("/a/../b/./c?d=../e", "https://h/b/c?d=../e"),
    ])
    func aReferenceIsResolved(reference: String, expected: String) {
        #expect(WebAddress("https://h/a/b?q")?.resolving(reference)?.text == expected)
    }

    @Test func credentialsBelongToOneOrigin() throws {
        let home = try #require(WebAddress("https://h/a"))
        for (other, isSame) in [
            ("https://h/b", true), ("https://h:444/", false), ("http://h/", false), ("https://x.h/", false),
        ] {
            #expect(WebAddress(other)?.hasOrigin(of: home) == isSame)
        }
    }

    @Test(arguments: [
        ("http://api.example.net/", "example.net"), ("http://10.0.0.1/", "10.0.0.1"), ("http://[::1]/", "::1"),
    ])
    func aSiteIsTheLastTwoLabelsOrTheAddress(text: String, site: String) {
        #expect(WebAddress(text)?.site == site)
    }
}

@Suite struct LinkHeaderTests {
    @Test func linksAreReadWithTheirParameters() {
        let text =
            #"<stun:stun.example.net>; rel="ice-server", <turn:t.example.net?transport=udp>;rel=ice-server; username="u\"x, y"; credential=p"#
        let links = LinkHeader.read(text)
        #expect(links.map(\.target) == ["stun:stun.example.net", "turn:t.example.net?transport=udp"])
        #expect(links.last?.parameters == ["rel": "ice-server", "username": "u\"x, y", "credential": "p"])
    }

    @Test func onlyServersAreTakenAndNoSecretIsPrinted() {
        let servers = BackendICEServer.read(links: [
            "<https://h/x>; rel=\"ice-server\"", "<stun:a>; rel=\"next\"", "<stun:b>; rel=\"ice-server\"",
            "<turn:c>; rel=\"ice-server\"; username=\"u\"; credential=\"sesame\"; credential-type=\"password\"",
            "<turn:d>; rel=\"ice-server\"; credential-type=\"oauth\"",
        ])
        #expect(servers.map(\.urls) == [["https://h/x"], ["stun:b"], ["turn:c"]])
        #expect(BackendICEServer.judged(servers).usable.map(\.urls) == [["stun:b"], ["turn:c"]])
        #expect(servers.last?.credential?.reveal() == "sesame")
        #expect(!String(reflecting: servers).contains("sesame"))
    }

    @Test func aServerThatCannotBeUsedIsLeftOutAndNamedWithoutItsSecret() {
        let json = #"""
            [{"urls": ["stun:a.example", "stuns:b.example"]}, {"urls": "turn:c.example?transport=udp"},
             {"urls": ["turn:me:s3cr3t@d.example"], "username": "u", "credential": "p"},
             {"urls": ["turns:e.example:443"], "username": "u", "credential": "p"}, {"urls": []}, 7]
            """#
        let (usable, problems) = BackendICEServer.judged(
            BackendICEServer.read(JSONValue(reading: Array(json.utf8))))
        #expect(
            usable == [
                ICEServer(urls: ["stun:a.example"]),
                ICEServer(urls: ["turns:e.example:443"], username: "u", credential: "p"),
            ])
        #expect(problems.count == 3)
        #expect(problems.first?.contains("\"stuns:b.example\"") == true)
        #expect(problems.dropFirst().first?.contains("\"turn:c.example?transport=udp\": a relay needs") == true)
        #expect(!problems.joined().contains("s3cr3t"))
    }

    @Test func noMoreServersAreTakenThanAVoiceUses() {
        let many = JSONValue.array((0..<100).map { .object(["urls": .text("stun:s\($0).example")]) })
        #expect(BackendICEServer.judged(BackendICEServer.read(many)).usable.count == ICEServer.limit)
    }

    @Test func mutatedLinksNeverTrap() {
        let seed = Array(#"<stun:a>; rel="ice-server", <turn:b>; username="u\""; x=y;;=,<>;"#.utf8)
        var random = SeededBytes(seed: 3)
        for _ in 0..<3000 {
            var bytes = seed
            for _ in 0...random.below(6) where !bytes.isEmpty {
                let index = random.below(bytes.count)
                switch random.below(3) {
                case 0: bytes[index] = UInt8(random.below(256))
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: Array("<>;,\"=\\".utf8), at: index)
                }
            }
            #expect(BackendICEServer.read(links: [String(decoding: bytes, as: UTF8.self)]).count <= 16)
        }
    }
}
