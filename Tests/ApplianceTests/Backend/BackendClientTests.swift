import Glibc
import Synchronization
import Testing
import VoiceCore

@testable import Appliance

@Suite struct BackendClientTests {
    @Test func theOfferIsPostedAsTheContractHasItAndTheAnswerComesBack() async throws {
        let server = TestServer { _, connection in
            connection.answer(goodAnswer)
            return true
        }
        defer { server.stop() }
        let apikey = CredentialFile("  pb_key\n")
        let bearer = CredentialFile("token.one\n")
        var settings = BackendSettings.test(server)
        settings.chat = "main lobby/é"
        settings.apikeyCredential = apikey.path
        settings.bearerCredential = bearer.path
        let client = try BackendClient(settings)

        let started = try await client.start(offer: "v=0\r\ns=\"-\"\r\n\u{1}").started
        #expect(started.id == "voice-1")
        #expect(started.sdp == "v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\n")

        let request = try #require(await server.request { _ in true })
        #expect(request.method == "POST")
        #expect(request.target == "/voice/main%20lobby%2F%C3%A9")
        #expect(request.headers["content-type"] == "application/json")
        #expect(request.headers["accept"] == "application/json")
        #expect(request.headers["apikey"] == "pb_key")
        #expect(request.headers["authorization"] == "Bearer token.one")
        #expect(request.headers["expect"] == nil)
        #expect(request.body == #"{"sdp":"v=0\r\ns=\"-\"\r\n\u0001"}"#)
    }

    @Test func credentialsAreReadAnewForEachCall() async throws {
        let server = TestServer { request, connection in
            connection.answer(request.target.hasSuffix("/close") ? #"{"seconds":3.5}"# : goodAnswer)
            return true
        }
        defer { server.stop() }
        let bearer = CredentialFile("first")
        var settings = BackendSettings.test(server)
        settings.bearerCredential = bearer.path
        let client = try BackendClient(settings)

        _ = try await client.start(offer: "v=0")
        bearer.write("second")
        #expect(try await client.close(voice: "voice-1") == 3.5)

        let start = try #require(await server.request { _ in true })
        let close = try #require(await server.request { _ in true })
        #expect(start.headers["authorization"] == "Bearer first")
        #expect(close.headers["authorization"] == "Bearer second")
        #expect(close.target == "/voice/lobby/voice-1/close")
        #expect(close.body == "{}")
    }

    @Test func aMissingCredentialIsNamedAndNothingIsPosted() async throws {
        let server = TestServer { _, _ in false }
        defer { server.stop() }
        var settings = BackendSettings.test(server)
        settings.credentialsDirectory = "/nonexistent"
        settings.bearerCredential = "token"
        let client = try BackendClient(settings)
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .credential)
        #expect(error?.message.contains("/nonexistent/token") == true)
        #expect(server.connectionCount == 0)
    }

    @Test func warmingOpensTheConnectionThatTheNextPostUses() async throws {
        let server = TestServer { request, connection in
            request.method == "HEAD" ? connection.answer("") : connection.answer(goodAnswer)
            return true
        }
        defer { server.stop() }
        let key = CredentialFile("pb_key")
        var settings = BackendSettings.test(server)
        settings.apikeyCredential = key.path
        let client = try BackendClient(settings)
        client.warm()
        let head = try #require(await server.request { $0.method == "HEAD" })
        #expect(head.target == "/")
        #expect(head.headers["apikey"] == nil)
        await client.settled(within: .seconds(300))
        _ = try await client.start(offer: "v=0")
        let post = try #require(await server.request { $0.method == "POST" })
        #expect(post.connection == head.connection)
        #expect(server.connectionCount == 1)
    }

    @Test func aConnectionFromAnAddressThatIsGoneIsNotUsedAgain() async throws {
        let server = TestServer { _, connection in
            connection.answer(goodAnswer)
            return true
        }
        defer { server.stop() }
        let addresses = Mutex<Set<String>>(["127.0.0.1"])
        let client = try BackendClient(.test(server), localAddresses: { addresses.withLock { $0 } })
        for _ in 0..<2 { _ = try await client.start(offer: "v=0") }
        #expect(server.connectionCount == 1)
        addresses.withLock { $0 = ["192.0.2.1"] }
        _ = try await client.start(offer: "v=0")
        #expect(server.connectionCount == 2)
        addresses.withLock { $0 = ["127.0.0.1"] }
        for _ in 0..<2 { _ = try await client.start(offer: "v=0") }
        #expect(server.connectionCount == 2)
    }

    @Test func theAddressesOfThisMachineAreKnownAsLibcurlNamesThem() {
        #expect(LocalAddresses.now().contains("127.0.0.1"))
        #expect(!LocalAddresses.now().contains { $0.contains("%" as Character) })
    }

    @Test func aWarmConnectionThatTheServerClosesAfterUseIsOpenedAgain() async throws {
        let server = TestServer { request, connection in
            guard request.method == "POST" else {
                connection.answer("")
                return true
            }
            connection.answer(goodAnswer)
            return false
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        client.warm()
        let first = try #require(await server.request { $0.method == "HEAD" })
        // Till its answer is in, the connection is not at rest, and the POST would take another.
        await client.settled(within: .seconds(20))
        _ = try await client.start(offer: "v=0")
        let second = try #require(await server.request { $0.method == "HEAD" })
        #expect(second.connection != first.connection)
    }

    @Test func theEnvironmentsProxyIsNotUsedAndRedirectsAreNotFollowed() async throws {
        setenv("http_proxy", "http://127.0.0.1:1", 1)
        let server = TestServer { _, connection in
            connection.answer(307, headers: "Location: http://127.0.0.1:1/\r\n", "")
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .refused)
        #expect(error?.status == 307)
        #expect(server.connectionCount == 1)
    }

    @Test func noSecretIsRepeatedInAnErrorEvenWhereTheBackendRepeatsIt() async throws {
        let server = TestServer { request, connection in
            let token = request.headers["authorization"] ?? ""
            let key = request.headers["apikey"] ?? ""
            connection.answer(401, #"{"error":"\#(key)","message":"bad: \#(token) \#(key)","request_id":"\#(key)"}"#)
            return true
        }
        defer { server.stop() }
        let apikey = CredentialFile("sesame-key")
        let bearer = CredentialFile("sesame-token")
        var settings = BackendSettings.test(server)
        settings.url += "?secret=sesame-query"
        settings.apikeyCredential = apikey.path
        settings.bearerCredential = bearer.path
        let client = try BackendClient(settings)
        for call in ["start", "close"] {
            let error = await backendError {
                if call == "start" {
                    _ = try await client.start(offer: "v=0")
                } else {
                    _ = try await client.close(voice: "a")
                }
            }
            let text = String(reflecting: error)
            #expect(error?.status == 401)
            #expect(text.contains("[hidden]"))
            #expect(!text.contains("sesame"))
        }
    }
}
