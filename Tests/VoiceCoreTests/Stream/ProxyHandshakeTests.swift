import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ProxyHandshakeTests {
    private func verdict(_ text: String, inPiecesOf size: Int = 1_000) -> ProxyHandshake.Verdict {
        var handshake = ProxyHandshake(host: "relay.example", port: 443, credential: nil)
        let bytes = Array(text.utf8)
        var verdict = ProxyHandshake.Verdict.waiting
        for start in stride(from: 0, to: bytes.count, by: size) where verdict == .waiting {
            verdict = Array(bytes[start..<min(start + size, bytes.count)]).withUnsafeBytes { handshake.receive($0) }
        }
        return verdict
    }

    @Test func theRequestNamesTheHostAndTheUser() {
        let handshake = ProxyHandshake(host: "2001:db8::1", port: 443, credential: "ab:c")
        #expect(
            String(decoding: handshake.request, as: UTF8.self)
                == "CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n"
                + "Proxy-Authorization: Basic YWI6Yw==\r\n\r\n")
    }

    @Test(arguments: [1, 7, 1_000])
    func twoHundredOpensTheWayAndTheRestBelongsToIt(size: Int) {
        #expect(
            verdict("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n", inPiecesOf: size) == .established(rest: 0))
        #expect(verdict("HTTP/1.0 200 OK\r\n\r\nabc") == .established(rest: 3))
    }

    @Test(arguments: [
        ("HTTP/1.1 407 Who\r\n\r\n", ProxyHandshake.Refusal.unauthorized), ("HTTP/1.1 403 No\r\n\r\n", .forbidden),
        ("HTTP/1.1 502 Bad\r\n\r\n", .unreachable), ("HTTP/1.1 504 Late\r\n\r\n", .unreachable),
        ("HTTP/1.1 418 Tea\r\n\r\n", .status(418)), ("SSH-2.0-x\r\n", .unreadable),
        ("HTTP/1.1 2x0 OK\r\n\r\n", .unreadable),
        ("HTTP/1.\r\n\r\n", .unreadable),
    ])
    func aRefusalHasItsName(text: String, refusal: ProxyHandshake.Refusal) {
        #expect(verdict(text) == .refused(refusal))
    }

    @Test func anEndlessHeadIsRefused() {
        #expect(verdict("HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 2_000)) == .refused(.unreadable))
    }
}
