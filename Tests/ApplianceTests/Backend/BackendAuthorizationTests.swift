import Glibc
import Synchronization
import Testing
import VoiceCore

@testable import Appliance

/// What becomes of a start whose credentials the backend does not take.
@Suite struct BackendAuthorizationTests {
    /// A backend that takes some bearer tokens, and a token service that takes some refresh tokens.
    private final class Service: Sendable {
        struct Next: Sendable {
            var token: String
            var rotated: String?
        }

        let taken: Mutex<Set<String>>
        /// By refresh token.
        let nexts: Mutex<[String: Next]>
        let refreshCount = Mutex(0)
        let startCount = Mutex(0)
        let lifetime: Int

        init(taking taken: Set<String>, refreshes: [String: Next] = [:], lifetime: Int = 60) {
            self.lifetime = lifetime
            self.taken = Mutex(taken)
            nexts = Mutex(refreshes)
        }

        func serve(_ request: TestServer.Request, _ connection: TestServer.Connection) -> Bool {
            if request.target == "/token" {
                refreshCount.withLock { $0 += 1 }
                let json = JSONValue(reading: Array(request.body.utf8))?["refresh_token"]?.text
                let used = json ?? String(request.body.dropFirst("grant_type=refresh_token&refresh_token=".count))
                guard let next = nexts.withLock({ $0[used] }) else {
                    connection.answer(400, #"{"error":"invalid_grant"}"#)
                    return true
                }
                taken.withLock { _ = $0.insert(next.token) }
                let rotated = next.rotated.map { #","refresh_token":"\#($0)""# } ?? ""
                connection.answer(#"{"access_token":"\#(next.token)","expires_in":\#(lifetime)\#(rotated)}"#)
                return true
            }
            startCount.withLock { $0 += 1 }
            let token = String(request.headers["authorization"]?.dropFirst("Bearer ".count) ?? "")
            if taken.withLock({ $0.contains(token) }) {
                connection.answer(goodAnswer)
            } else {
                connection.answer(401, #"{"error":"invalid_token","message":"\#(token) is not valid."}"#)
            }
            return true
        }
    }

    private static func settings(_ server: TestServer, bearer: CredentialFile?, refresh: CredentialFile? = nil)
        -> BackendSettings
    {
        var settings = BackendSettings.test(server)
        settings.bearerCredential = bearer?.path
        settings.refreshCredential = refresh?.path
        settings.refreshURL = refresh.map { _ in "\(server.url)/token" }
        return settings
    }

    @Test func aCredentialThatWasRenewedMeanwhileIsReadAgainAndTriedOnce() async throws {
        let service = Service(taking: ["new"])
        let bearer = CredentialFile("old")
        let path = bearer.path
        let server = TestServer { request, connection in
            // Renewed while the request was under way.
            if service.startCount.withLock({ $0 }) == 0 { CredentialFile.write("new", to: path) }
            return service.serve(request, connection)
        }
        defer { server.stop() }
        let client = try BackendClient(Self.settings(server, bearer: bearer))
        _ = try await client.start(offer: "v=0")
        #expect(service.startCount.withLock { $0 } == 2)
    }

    @Test func theSameCredentialIsNotTriedTwice() async throws {
        let service = Service(taking: [])
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let bearer = CredentialFile("old")
        let client = try BackendClient(Self.settings(server, bearer: bearer))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .unauthorized)
        #expect(service.startCount.withLock { $0 } == 1)
    }

    @Test(arguments: [RefreshBody.json, .form])
    func aTokenIsRefreshedOnceAndTheStartSentAgain(body: RefreshBody) async throws {
        let service = Service(taking: [], refreshes: ["r1": Service.Next(token: "fresh")])
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let bearer = CredentialFile("old")
        let refresh = CredentialFile("r1")
        let key = CredentialFile("pb_key")
        var settings = Self.settings(server, bearer: bearer, refresh: refresh)
        settings.refreshBody = body
        settings.apikeyCredential = key.path
        let client = try BackendClient(settings)
        _ = try await client.start(offer: "v=0")
        #expect(service.startCount.withLock { $0 } == 2)
        let request = try #require(await server.request { $0.target == "/token" })
        #expect(request.headers["authorization"] == nil)
        #expect(request.headers["apikey"] == "pb_key")
        // The new token is kept in memory.
        _ = try await client.start(offer: "v=0")
        #expect(service.startCount.withLock { $0 } == 3)
        #expect(service.refreshCount.withLock { $0 } == 1)
    }

    @Test func withoutABearerTheFirstTokenIsGotBeforeTheStart() async throws {
        let service = Service(taking: [], refreshes: ["r1": Service.Next(token: "fresh")])
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let refresh = CredentialFile("r1")
        let client = try BackendClient(Self.settings(server, bearer: nil, refresh: refresh))
        _ = try await client.start(offer: "v=0")
        #expect(service.startCount.withLock { $0 } == 1)
    }

    @Test func aTokenThatSaysWhenItEndsIsReplacedBeforeWithoutAnyPress() async throws {
        let service = Service(
            taking: [],
            refreshes: ["r1": Service.Next(token: "a", rotated: "r2"), "r2": Service.Next(token: "b", rotated: "r3")],
            lifetime: 1)
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let refresh = CredentialFile("r1")
        let client = try BackendClient(Self.settings(server, bearer: nil, refresh: refresh))
        let begin = Instant.now()
        _ = try await client.start(offer: "v=0")
        _ = await server.request { $0.target == "/token" }
        let second = try #require(await server.request { $0.target == "/token" })
        #expect(second.body.contains("r2"))
        #expect(Instant.now() - begin < .seconds(10))
        await client.settled(within: .seconds(60))
        // The press that comes then uses what was got; a token that the service still takes is no proof, so the old one is taken away.
        service.taken.withLock { _ = $0.remove("a") }
        _ = try await client.start(offer: "v=0")
        #expect(service.startCount.withLock { $0 } == 2)
    }

    @Test(
        arguments: [
            (nil, nil), (.nan, nil), (-1, nil), (0, nil), (0.5, nil), (1e300, nil), (1, Duration.milliseconds(800)),
            (100, .seconds(80)), (3600, .seconds(3540)),
        ] as [(Double?, Duration?)])
    func aTokenIsReplacedWhileSomeOfItsLifeIsLeft(lifetime: Double?, delay: Duration?) {
        #expect(TokenRefresh.renewalDelay(lifetime: lifetime) == delay)
    }

    @Test func manyStartsAtOnceShareOneRefresh() async throws {
        let service = Service(taking: [], refreshes: ["r1": Service.Next(token: "fresh")])
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let bearer = CredentialFile("old")
        let refresh = CredentialFile("r1")
        let client = try BackendClient(Self.settings(server, bearer: bearer, refresh: refresh))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try await client.start(offer: "v=0") } }
            try await group.waitForAll()
        }
        #expect(service.refreshCount.withLock { $0 } == 1)
    }

    @Test func aTokenThatIsRefusedAfterTheRefreshIsNamedAndNothingIsRepeatedFurther() async throws {
        let service = Service(taking: [], refreshes: ["sesame-r1": Service.Next(token: "sesame-fresh")])
        let server = TestServer { request, connection in
            let keep = service.serve(request, connection)
            service.taken.withLock { $0 = [] }
            return keep
        }
        defer { server.stop() }
        let bearer = CredentialFile("sesame-old")
        let refresh = CredentialFile("sesame-r1")
        let client = try BackendClient(Self.settings(server, bearer: bearer, refresh: refresh))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .unauthorized)
        #expect(service.startCount.withLock { $0 } == 2)
        #expect(service.refreshCount.withLock { $0 } == 1)
        #expect(!String(reflecting: error).contains("sesame"))
    }

    @Test func aSpentRefreshTokenIsNamedWithItsKey() async throws {
        let service = Service(taking: [])
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let bearer = CredentialFile("old")
        let refresh = CredentialFile("sesame")
        let client = try BackendClient(Self.settings(server, bearer: bearer, refresh: refresh))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .unauthorized)
        #expect(error?.message.contains("refresh_credential") == true)
        #expect(!String(reflecting: error).contains("sesame"))
    }

    @Test func aRefreshTokenThatTheBackendChangesOutlivesTheProgramForItsOwnerAlone() async throws {
        let service = Service(
            taking: [],
            refreshes: ["r1": Service.Next(token: "a", rotated: "r2"), "r2": Service.Next(token: "b", rotated: "r3")])
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let directory = ScratchDirectory()
        let refresh = CredentialFile("r1")
        var settings = Self.settings(server, bearer: nil, refresh: refresh)
        settings.stateDirectory = directory.path
        let first = try BackendClient(settings)
        _ = try await first.start(offer: "v=0")
        await first.settled(within: .seconds(60))
        #expect(directory.mode(of: "refresh-token") == 0o600)

        // The spent one works no longer.
        service.nexts.withLock { $0["r1"] = nil }
        let second = try BackendClient(settings)
        _ = try await second.start(offer: "v=0")
        #expect(service.taken.withLock { $0.contains("b") })
        await second.settled(within: .seconds(60))

        // A credential that was put in anew wins over what was kept.
        service.nexts.withLock { $0["other"] = Service.Next(token: "c") }
        refresh.write("other")
        let third = try BackendClient(settings)
        _ = try await third.start(offer: "v=0")
        #expect(service.taken.withLock { $0.contains("c") })
    }

    @Test func onlyHalfARefreshIsAMistakeOfTheConfig() {
        var settings = BackendSettings(url: "http://h/", chat: "a")
        settings.refreshURL = "http://h/token"
        #expect(throws: BackendError.self) { try BackendClient.check(settings) }
    }
}

/// What becomes of a start that the backend asks to send again later.
@Suite struct BackendBusyTests {
    @Test(arguments: [429, 503])
    func aBackendThatAsksForAMomentGetsTheSameOfferAgain(status: Int) async throws {
        let count = Mutex(0)
        let server = TestServer { request, connection in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst {
                connection.answer(status, headers: "Retry-After: 1\r\n", #"{"error":"busy"}"#)
            } else {
                connection.answer(goodAnswer)
            }
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        _ = try await client.start(offer: "v=0")
        #expect(count.withLock { $0 } == 2)
    }

    @Test func whoeverGivesUpWhileWaitingIsResumedAtOnceAndNothingIsSentAgain() async throws {
        let count = Mutex(0)
        let server = TestServer { request, connection in
            count.withLock { $0 += 1 }
            connection.answer(429, headers: "Retry-After: 4\r\n", "{}")
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        let task = Task { try await client.start(offer: "v=0") }
        _ = await server.request { _ in true }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await client.settled(within: .seconds(60))
        #expect(count.withLock { $0 } == 1)
    }

    private static func steps(limit: Duration = .seconds(10)) -> ExchangeSteps {
        ExchangeSteps(home: WebAddress("http://h/")!, url: "http://h/v", followsRedirects: true, limit: limit)
    }

    @Test func nobodyIsKeptWaitingForLongerThanFiveSecondsInAll() {
        var steps = Self.steps()
        let busy = HTTPResponse(status: 503, retryAfter: .seconds(2))
        let taken = (0..<3).map { steps.next(after: busy, elapsed: .seconds(2 * $0)) }
        #expect(taken == [.wait(.seconds(2)), .wait(.seconds(2)), .done])
        var short = Self.steps(limit: .seconds(3))
        let step = short.next(after: busy, elapsed: .seconds(2))
        #expect(step == .done)
        var patient = Self.steps()
        let long = patient.next(after: HTTPResponse(status: 429, retryAfter: .seconds(6)), elapsed: .zero)
        #expect(long == .done)
    }

    @Test func aBackendThatGivesNoTimeIsNotAskedAgain() {
        var steps = Self.steps()
        let step = steps.next(after: HTTPResponse(status: 503), elapsed: .zero)
        #expect(step == .done)
    }

    @Test func zeroSecondsAreASecondSoThatNoCircleIsRun() {
        var steps = Self.steps()
        let taken = (0..<6).map { _ in steps.next(after: HTTPResponse(status: 503, retryAfter: .zero), elapsed: .zero) }
        #expect(taken == Array(repeating: .wait(.seconds(1)), count: 5) + [.done])
    }
}
