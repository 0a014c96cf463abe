import Testing
import VoiceCore

@testable import Appliance

@Suite struct BackendURLTests {
    @Test(arguments: [
        ("http://h/voice/{chat}", nil, "http://h/voice/a%20b", "http://h/voice/a%20b/v%2F1/close"),
        ("http://h:1/voice/{chat}/?k=1", nil, "http://h:1/voice/a%20b/?k=1", "http://h:1/voice/a%20b/v%2F1/close?k=1"),
        ("HTTPS://h", "https://h/end/{voice}", "HTTPS://h", "https://h/end/v%2F1"),
        ("https://h/{chat}/{chat}", "https://h/{voice}", "https://h/a%20b/a%20b", "https://h/v%2F1"),
    ])
    func templatesAreFilled(url: String, closeURL: String?, start: String, close: String) throws {
        let urls = try BackendURL(BackendSettings(url: url, closeURL: closeURL, chat: "a b"))
        #expect(urls.start == start)
        #expect(urls.close(UnclosedVoice(kind: .contract, id: "v/1", chat: "a b")) == close)
    }

    @Test(arguments: [
        "", "ftp://h/{chat}", "http://", "http:///{chat}", "http://u:p@h/", "http://h/ a", "http://h/#a",
        "http://{chat}/",
    ])
    func anUnusableAddressIsNamed(url: String) {
        #expect(throws: BackendError.self) { try BackendURL(BackendSettings(url: url, chat: "a")) }
    }

    @Test(arguments: ["", ".", "..", String(repeating: "a", count: 513)])
    func anIdThatCannotBeAPathSegmentHasNoCloseAddress(voice: String) throws {
        let urls = try BackendURL(BackendSettings(url: "http://h/{chat}", chat: "a"))
        #expect(urls.close(UnclosedVoice(kind: .contract, id: voice, chat: "a")) == nil)
    }

    @Test func aCloseAddressWithoutTheVoiceIsRefused() {
        #expect(throws: BackendError.self) {
            try BackendURL(BackendSettings(url: "http://h/", closeURL: "http://h/close", chat: "a"))
        }
    }
}

@Suite struct CredentialTests {
    @Test(arguments: ["", " \n", "two\nlines", "nul\u{0}", String(repeating: "a", count: 70_000)])
    func aFileWithoutASecretIsRefusedAndItsTextNotRepeated(text: String) throws {
        let file = CredentialFile(text)
        let credential = try Credential(file.path, key: "bearer_credential", directory: nil)
        #expect(throws: BackendError.self) { try credential.read() }
    }

    @Test func aNameWithoutADirectoryIsRefused() {
        #expect(throws: BackendError.self) { try Credential("token", key: "bearer_credential", directory: nil) }
    }

    @Test func aNameIsLookedForInTheDirectory() throws {
        #expect(try Credential("token", key: "k", directory: "/run/c").path == "/run/c/token")
        #expect(try Credential("/etc/token", key: "k", directory: "/run/c").path == "/etc/token")
    }
}

@Suite struct ErrorEnvelopeTests {
    @Test func mutatedEnvelopesNeverTrap() throws {
        let seeds = [
            #"{"error":"todo_locked","error_description":"x","status":409,"request_id":"req_1","data":{"retryAfter":30}}"#,
            #"{"error":{"message":"m","type":"t","code":"c"},"retry_after":1e300}"#, goodAnswer,
        ].map { Array($0.utf8) }
        var random = Entropyless(state: 7)
        for round in 0..<3000 {
            var bytes = seeds[round % seeds.count]
            for _ in 0...Int.random(in: 0..<6, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: bytes[index...].prefix(9), at: index)
                }
            }
            let envelope = ErrorEnvelope(reading: bytes)
            #expect((envelope.message?.unicodeScalars.count ?? 0) <= 300)
            #expect((envelope.code?.utf8.count ?? 0) <= 64)
            let response = HTTPResponse(status: 200, contentType: "application/json", body: bytes)
            for kind in BackendKind.allCases {
                let routes = try VoiceRoutes(BackendSettings(kind: kind, url: "http://h/", chat: "a"))
                _ = try? routes.started(response, from: "http://h/")
            }
        }
    }

    @Test(arguments: [
        (Double.nan, nil), (-1, nil), (.infinity, nil), (1e300, Duration.seconds(86_400)), (1.5, .milliseconds(1500)),
    ])
    func waitsAreBounded(seconds: Double, expected: Duration?) {
        #expect(ErrorEnvelope.duration(seconds) == expected)
    }

    private struct Entropyless: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}

@Suite struct WarmthTests {
    let start = Instant(nanoseconds: 0)

    private func opened() -> Warmth {
        var warmth = Warmth()
        warmth.want(at: start)
        let isDue1 = warmth.isDue(at: start)
        #expect(isDue1)
        warmth.attempted()
        warmth.opened()
        return warmth
    }

    @Test func nothingIsOpenedUnasked() {
        var warmth = Warmth()
        warmth.lost(wasUsed: true, at: start)
        let isDue2 = warmth.isDue(at: start)
        #expect(!isDue2)
    }

    @Test func whatIsOpenOrOpeningIsNotOpenedAgain() {
        var warmth = Warmth()
        warmth.want(at: start)
        let isDue3 = warmth.isDue(at: start)
        #expect(isDue3)
        warmth.want(at: start)
        let isDue4 = warmth.isDue(at: start)
        #expect(!isDue4)
        var open = opened()
        open.want(at: start)
        let isDue5 = open.isDue(at: start)
        #expect(!isDue5)
    }

    @Test func aUsedConnectionIsReplacedAtOnce() {
        var warmth = opened()
        warmth.used()
        warmth.lost(wasUsed: true, at: start)
        let isDue6 = warmth.isDue(at: start)
        #expect(isDue6)
    }

    @Test func aServerOfShortPatienceIsAskedMoreAndMoreSeldom() {
        var warmth = opened()
        var now = start
        var waits: [Duration] = []
        for _ in 0..<8 {
            warmth.lost(wasUsed: false, at: now)
            guard let next = warmth.deadline else { break }
            waits.append(next - now)
            now = next
            let isDue7 = warmth.isDue(at: now)
            #expect(isDue7)
            warmth.attempted()
            warmth.opened()
        }
        #expect(waits.map(\.components.seconds) == [5, 10, 20, 40, 80, 160, 240, 240])
    }
}
