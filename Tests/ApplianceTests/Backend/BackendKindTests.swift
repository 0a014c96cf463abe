import Synchronization
import Testing
import VoiceCore

@testable import Appliance

/// The manners of each kind of backend, as they go over the wire.
@Suite struct BackendKindTests {
    private static let sdp = "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\n"

    private static func settings(_ kind: BackendKind, _ server: TestServer, path: String = "/whip") -> BackendSettings {
        BackendSettings(kind: kind, url: server.url + path, chat: "lobby", timeout: .seconds(60))
    }

    /// Answers a POST with a bare answer that lies at a location, and anything else with 200.
    private static func whip(location: String = "/sessions/s-1?t=2", headers: String = "") -> TestServer {
        TestServer { request, connection in
            if request.method == "POST", request.headers["content-type"] == "application/sdp" {
                connection.answer(201, type: "application/sdp", headers: "Location: \(location)\r\n\(headers)", sdp)
            } else {
                connection.answer(200, type: nil, "")
            }
            return true
        }
    }

    @Test func aWHIPVoiceIsStartedByTheBareOfferAndClosedByDeletingItsLocation() async throws {
        let server = Self.whip(
            headers: """
                ETag: "xyz"\r
                Link: <stun:stun.example.net>; rel="ice-server"\r
                Link: <turn:turn.example.net>; rel="ice-server"; username="u"; credential="c"\r

                """)
        defer { server.stop() }
        let bearer = CredentialFile("token")
        let directory = ScratchDirectory()
        var settings = Self.settings(.whip, server)
        settings.bearerCredential = bearer.path
        settings.stateDirectory = directory.path
        let client = try BackendClient(settings)
        let voice = try await client.start(offer: "v=0 offer")
        #expect(voice.started.id == "s-1")
        #expect(voice.started.sdp == Self.sdp)
        #expect(voice.entityTag == "\"xyz\"")
        #expect(
            voice.started.iceServers == [
                ICEServer(urls: ["stun:stun.example.net"]),
                ICEServer(urls: ["turn:turn.example.net"], username: "u", credential: "c"),
            ])
        let post = try #require(await server.request { $0.method == "POST" })
        #expect(post.body == "v=0 offer")
        #expect(post.headers["accept"] == "application/sdp")
        #expect(post.headers["authorization"] == "Bearer token")

        // After a power cut too: the location is on disk.
        await client.settled(within: .seconds(60))
        let next = try BackendClient(settings)
        #expect(try await next.close(voice: "s-1") == nil)
        let delete = try #require(await server.request { $0.method == "DELETE" })
        #expect(delete.target == "/sessions/s-1?t=2")
        #expect(delete.headers["authorization"] == "Bearer token")
    }

    @Test func aProvidersCallIsHungUpWhereTheConfigSays() async throws {
        let server = Self.whip(location: "/v1/calls/rtc_1")
        defer { server.stop() }
        var settings = Self.settings(.whip, server, path: "/v1/calls")
        settings.closeURL = "{location}/hangup"
        let client = try BackendClient(settings)
        _ = try await client.start(offer: "v=0")
        #expect(try await client.close(voice: "rtc_1") == nil)
        let hangup = try #require(await server.request { $0.target.hasSuffix("/hangup") })
        #expect(hangup.method == "POST")
        #expect(hangup.target == "/v1/calls/rtc_1/hangup")
        #expect(hangup.body.isEmpty)
    }

    @Test(arguments: [307, 308])
    func aRedirectIsFollowedWithTheBodyAndWithoutCredentialsElsewhere(status: Int) async throws {
        let other = Self.whip()
        let first = TestServer { request, connection in
            if request.target == "/whip" {
                connection.answer(status, type: nil, headers: "Location: /here\r\n", "")
            } else {
                connection.answer(status, type: nil, headers: "Location: \(other.url)/there\r\n", "")
            }
            return true
        }
        defer {
            first.stop()
            other.stop()
        }
        let bearer = CredentialFile("token")
        var settings = Self.settings(.whip, first)
        settings.bearerCredential = bearer.path
        let client = try BackendClient(settings)
        let voice = try await client.start(offer: "v=0 offer")
        #expect(voice.started.id == "s-1")
        let here = try #require(await first.request { $0.target == "/here" })
        #expect(here.headers["authorization"] == "Bearer token")
        let there = try #require(await other.request { $0.target == "/there" })
        #expect(there.body == "v=0 offer")
        #expect(there.method == "POST")
        #expect(there.headers["authorization"] == nil)
        // What it started lies there.
        _ = try await client.close(voice: "s-1")
        let delete = try #require(await other.request { $0.method == "DELETE" })
        #expect(delete.headers["authorization"] == nil)
    }

    @Test func aCircleOfRedirectsEnds() async throws {
        let count = Mutex(0)
        let server = TestServer { _, connection in
            count.withLock { $0 += 1 }
            connection.answer(307, type: nil, headers: "Location: /whip\r\n", "")
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(Self.settings(.whip, server))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .refused)
        #expect(count.withLock { $0 } == 1 + ExchangeSteps.redirectLimit)
    }

    @Test func noRedirectLeavesTLS() {
        var steps = ExchangeSteps(
            home: WebAddress("https://h/")!, url: "https://h/v", followsRedirects: true, limit: .seconds(10))
        let step = steps.next(after: HTTPResponse(status: 307, location: "http://h/v"), elapsed: .zero)
        #expect(step == .done)
    }

    @Test(arguments: [
        ("no location", "application/sdp", "v=0\r\n", "no usable Location"),
        (
            "JSON", "application/json", #"{"error":{"message":"Invalid SDP offer.","code":"invalid_offer"}}"#,
            "Invalid SDP offer."
        ),
        ("JSON by its first byte", "application/sdp", #" {"id":1}"#, "v=0"),
        ("text", "text/plain", "v=0\r\n", "text/plain"), ("something else", "application/sdp", "m=audio", "v=0"),
    ])
    func aBareAnswerIsJudgedByTypeAndFirstBytes(name: String, type: String, body: String, says: String) async throws {
        let server = TestServer { _, connection in
            connection.answer(201, type: type, body)
            return false
        }
        defer { server.stop() }
        let client = try BackendClient(Self.settings(.whip, server))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .invalidAnswer)
        #expect(error?.message.contains(says) == true, "\(error?.message ?? "")")
    }

    @Test func aWHIPVoiceWithAnUnusableAnswerIsClosed() async throws {
        let server = TestServer { request, connection in
            connection.answer(201, type: "text/plain", headers: "Location: /s/1\r\n", "nix")
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(Self.settings(.whip, server))
        _ = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(await server.request { $0.method == "DELETE" && $0.target == "/s/1" } != nil)
    }

    @Test func aPipecatVoiceHasItsIDAndKeepAliveAndEndsWithItsConnection() async throws {
        let count = Mutex(0)
        let server = TestServer { _, connection in
            count.withLock { $0 += 1 }
            let sdp = #"v=0\r\n"#
            connection.answer(
                #"{"sdp":"\#(sdp)","type":"answer","pc_id":"pc#1","iceConfig":{"iceServers":[{"urls":["stun:a"]}]}}"#)
            return true
        }
        defer { server.stop() }
        let directory = ScratchDirectory()
        var settings = Self.settings(.pipecat, server, path: "/api/offer")
        settings.stateDirectory = directory.path
        let client = try BackendClient(settings)
        let voice = try await client.start(offer: "v=0 offer")
        #expect(voice.started.id == "pc#1")
        #expect(voice.keepAlive == BackendVoice.KeepAlive(text: "ping", every: .seconds(1)))
        #expect(voice.started.iceServers == [ICEServer(urls: ["stun:a"])])
        let post = try #require(await server.request { _ in true })
        #expect(post.target == "/api/offer")
        #expect(post.body == #"{"sdp":"v=0 offer","type":"offer"}"#)
        #expect(try await client.close(voice: "pc#1") == nil)
        await client.settled(within: .seconds(60))
        #expect(count.withLock { $0 } == 1)
        #expect(directory.mode(of: "open-voices") == nil)
    }

    @Test func aBackendThatMakesTheOfferGetsOurAnswer() async throws {
        let server = TestServer { request, connection in
            connection.answer(request.target == "/rooms/lobby" ? goodAnswer : "{}")
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(Self.settings(.answer, server, path: "/rooms/{chat}"))
        #expect(client.answersOffers)
        let voice = try await client.start(offer: "")
        #expect(voice.started.id == "voice-1")
        #expect(voice.started.sdp.hasPrefix("v=0"))
        try await client.answer("v=0 answer", voice: "voice-1")
        let answer = try #require(await server.request { $0.target == "/rooms/lobby/voice-1/answer" })
        #expect(answer.body == #"{"sdp":"v=0 answer","type":"answer"}"#)
        #expect(try await client.close(voice: "voice-1") == nil)
        #expect(await server.request { $0.target == "/rooms/lobby/voice-1/close" } != nil)
    }

    @Test func aRefusedAnswerIsNamed() async throws {
        let server = TestServer { _, connection in
            connection.answer(409, #"{"error":"too_late","message":"The offer is no longer open."}"#)
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(Self.settings(.answer, server, path: "/rooms/{chat}"))
        let error = await backendError { try await client.answer("v=0", voice: "voice-1") }
        #expect(error?.kind == .refused)
        #expect(error?.message.contains("no longer open") == true)
    }

    @Test func theContractsAnswerMayNameServers() async throws {
        let server = TestServer { _, connection in
            connection.answer(
                #"{"id":"a","sdp":"v=0","iceServers":{"urls":"turn:t.example.net","username":"u","credential":"c"}}"#)
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        let voice = try await client.start(offer: "v=0")
        #expect(
            voice.started.iceServers == [ICEServer(urls: ["turn:t.example.net"], username: "u", credential: "c")])
    }

    @Test func aServerThatCannotBeUsedEndsNothingAndIsNamedOnce() async throws {
        let server = TestServer { _, connection in
            connection.answer(
                #"{"id":"a","sdp":"v=0","iceServers":[{"urls":["ftp://a","stun:b.example"]}]}"#)
            return true
        }
        defer { server.stop() }
        let notices = Mutex<[String]>([])
        let client = try BackendClient(
            Self.settings(.answer, server), notice: { text in notices.withLock { $0.append(text) } })
        for _ in 0..<2 {
            let voice = try await client.start(offer: "")
            #expect(voice.started.iceServers == [ICEServer(urls: ["stun:b.example"])])
        }
        let told = notices.withLock { $0 }
        #expect(told.count == 1)
        #expect(told.first?.contains("\"ftp://a\"") == true)
    }

    @Test(arguments: [
        (BackendKind.contract, "{location}/hangup"), (.whip, "http://h/{location}"), (.whip, "http://h/close"),
    ])
    func aCloseAddressThatDoesNotFitTheKindIsNamed(kind: BackendKind, closeURL: String) {
        #expect(throws: BackendError.self) {
            try BackendURL(BackendSettings(kind: kind, url: "http://h/", closeURL: closeURL, chat: "a"))
        }
    }
}
