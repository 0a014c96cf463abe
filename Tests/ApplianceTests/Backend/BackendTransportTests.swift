import Glibc
import Testing
import VoiceCore

@testable import Appliance

/// TLS, its doubts, and what may stand between this machine and the backend.
@Suite struct BackendTransportTests {
    private static let host = "127.0.0.1"

    private static func answering(_ tls: TLSServer? = nil) -> TestServer {
        TestServer(tls: tls) { _, connection in
            connection.answer(goodAnswer)
            return false
        }
    }

    /// Settings that trust an identity's certificate, which lies in the directory.
    private static func settings(_ server: TestServer, trusting identity: TLSIdentity?, _ directory: ScratchDirectory)
        -> BackendSettings
    {
        var settings = BackendSettings.test(server)
        identity?.write(to: "\(directory.path)/ca.pem")
        settings.caFile = identity.map { _ in "\(directory.path)/ca.pem" }
        return settings
    }

    /// What a start ends with, where a portal could answer on a port.
    private static func failure(_ settings: BackendSettings, portalPort: UInt16? = nil) async throws -> BackendError? {
        let client = try BackendClient(settings, portalPort: portalPort ?? TestServer.unusedPort())
        return await backendError { _ = try await client.start(offer: "v=0") }
    }

    @Test func aCertificateOfTheOwnCAIsTrusted() async throws {
        let identity = TLSIdentity(name: Self.host)
        let server = Self.answering(TLSServer(identity))
        defer { server.stop() }
        let directory = ScratchDirectory()
        let error = try await Self.failure(Self.settings(server, trusting: identity, directory))
        #expect(error == nil)
    }

    @Test func aCertificateOfNobodyIsNamed() async throws {
        let server = Self.answering(TLSServer(TLSIdentity(name: Self.host)))
        defer { server.stop() }
        let directory = ScratchDirectory()
        let error = try await Self.failure(Self.settings(server, trusting: nil, directory))
        #expect(error?.kind == .tls)
        #expect(error?.doubt == .unknownIssuer)
        #expect(error?.message.contains("ca_file") == true)
    }

    @Test func anotherHostsCertificateIsNamed() async throws {
        let identity = TLSIdentity(name: "other.example")
        let server = Self.answering(TLSServer(identity))
        defer { server.stop() }
        let directory = ScratchDirectory()
        let error = try await Self.failure(Self.settings(server, trusting: identity, directory))
        #expect(error?.kind == .tls)
        #expect(error?.doubt == .otherName)
    }

    @Test(arguments: [
        ("20000101000000Z", "20010101000000Z", TLSDoubt.expired), ("20900101000000Z", "20910101000000Z", .notYetValid),
    ])
    func aCertificateOfAnotherTimeIsNamed(from: String, to: String, doubt: TLSDoubt) async throws {
        let identity = TLSIdentity(name: Self.host, validFrom: from, validTo: to)
        let server = Self.answering(TLSServer(identity))
        defer { server.stop() }
        let directory = ScratchDirectory()
        let error = try await Self.failure(Self.settings(server, trusting: identity, directory))
        #expect(error?.kind == .tls)
        #expect(error?.doubt == doubt)
    }

    @Test func aWrongClockIsNamedWhereThePlainAnswersDateDisagrees() async throws {
        let identity = TLSIdentity(name: Self.host, validFrom: "20900101000000Z", validTo: "20910101000000Z")
        let server = Self.answering(TLSServer(identity))
        let plain = TestServer { _, connection in
            connection.answer(404, headers: "Date: Sun, 05 Nov 2090 08:49:37 GMT\r\n", "{}")
            return false
        }
        defer {
            server.stop()
            plain.stop()
        }
        let directory = ScratchDirectory()
        let error = try await Self.failure(
            Self.settings(server, trusting: identity, directory), portalPort: plain.port)
        #expect(error?.kind == .clock)
        #expect(error?.message.contains("NTP") == true)
    }

    @Test func aPortalThatAnswersForTheBackendIsNamed() async throws {
        let server = Self.answering(TLSServer(TLSIdentity(name: "portal.example")))
        let portal = TestServer { request, connection in
            connection.answer(302, type: nil, headers: "Location: http://login.portal.example/\r\n", "")
            return false
        }
        defer {
            server.stop()
            portal.stop()
        }
        let directory = ScratchDirectory()
        let key = CredentialFile("sesame")
        var settings = Self.settings(server, trusting: nil, directory)
        settings.apikeyCredential = key.path
        let error = try await Self.failure(settings, portalPort: portal.port)
        #expect(error?.kind == .captivePortal)
        let probe = try #require(await portal.request { _ in true })
        #expect(probe.method == "GET")
        #expect(!probe.headers.values.contains { $0.firstPlace(of: "sesame") != nil })
    }

    @Test func aBackendThatSendsPlainRequestsToItsOwnTLSIsNoPortal() async throws {
        let server = Self.answering(TLSServer(TLSIdentity(name: Self.host)))
        let plain = TestServer { _, connection in
            connection.answer(301, type: nil, headers: "Location: https://127.0.0.1/\r\n", "")
            return false
        }
        defer {
            server.stop()
            plain.stop()
        }
        let directory = ScratchDirectory()
        let error = try await Self.failure(Self.settings(server, trusting: nil, directory), portalPort: plain.port)
        #expect(error?.kind == .tls)
    }

    @Test func theClientsCertificateIsShownAndItsLackNamed() async throws {
        let identity = TLSIdentity(name: Self.host)
        let post = TLSIdentity(name: "post")
        let server = Self.answering(TLSServer(identity, client: post))
        defer { server.stop() }
        let directory = ScratchDirectory()
        var settings = Self.settings(server, trusting: identity, directory)
        let without = try await Self.failure(settings)
        #expect(without?.kind == .tls)
        #expect(without?.doubt == .clientCertificate)
        #expect(without?.message.contains("client_certificate_credential") == true)
        post.write(to: "\(directory.path)/client.pem")
        settings.credentialsDirectory = directory.path
        settings.clientCertificate = "client.pem"
        settings.clientKey = "client.pem"
        #expect(try await Self.failure(settings) == nil)
        TLSIdentity(name: "stranger").write(to: "\(directory.path)/client.pem")
        let other = try await Self.failure(settings)
        #expect(other?.doubt == .clientCertificate)
    }

    @Test func onlyThePinnedKeysAreTaken() async throws {
        let identity = TLSIdentity(name: Self.host)
        let server = Self.answering(TLSServer(identity))
        defer { server.stop() }
        let directory = ScratchDirectory()
        var settings = Self.settings(server, trusting: identity, directory)
        settings.pinnedKeys = "\(TLSIdentity(name: "x").pin);\(identity.pin)"
        #expect(try await Self.failure(settings) == nil)
        settings.pinnedKeys = TLSIdentity(name: "x").pin
        let error = try await Self.failure(settings)
        #expect(error?.kind == .tls)
        #expect(error?.doubt == .otherKey)
        #expect(error?.message.contains("pinned_key") == true)
    }

    @Test func theProxyIsAskedWithItsOwnCredentials() async throws {
        let proxy = TestServer { request, connection in
            // RFC 7617 2: base64 of "post:sesame"
            if request.headers["proxy-authorization"] == "Basic cG9zdDpzZXNhbWU=" {
                connection.answer(goodAnswer)
            } else {
                connection.answer(407, headers: "Proxy-Authenticate: Basic realm=\"p\"\r\n", "{}")
            }
            return true
        }
        defer { proxy.stop() }
        let account = CredentialFile("post:sesame")
        var settings = BackendSettings(url: "http://backend.example/voice/{chat}", chat: "a", timeout: .seconds(60))
        settings.proxy = proxy.url
        let without = try await Self.failure(settings)
        #expect(without?.kind == .unauthorized)
        #expect(without?.message.contains("proxy_credential") == true)
        settings.proxyCredential = account.path
        #expect(try await Self.failure(settings) == nil)
        let request = try #require(await proxy.request { _ in true })
        #expect(request.target == "http://backend.example/voice/a")
    }

    @Test func aTunnelThroughTheProxyReachesABackendBehindTLS() async throws {
        let identity = TLSIdentity(name: Self.host)
        let server = Self.answering(TLSServer(identity))
        let port = server.port
        let proxy = TestServer { request, connection in
            guard request.method == "CONNECT", request.headers["proxy-authorization"] == "Basic cG9zdDpzZXNhbWU=" else {
                connection.answer(407, headers: "Proxy-Authenticate: Basic realm=\"p\"\r\n", "{}")
                return true
            }
            connection.tunnel(to: port)
            return false
        }
        defer {
            server.stop()
            proxy.stop()
        }
        let directory = ScratchDirectory()
        let account = CredentialFile("post:sesame")
        let bearer = CredentialFile("token")
        var settings = Self.settings(server, trusting: identity, directory)
        settings.proxy = proxy.url
        settings.proxyCredential = account.path
        settings.bearerCredential = bearer.path
        #expect(try await Self.failure(settings) == nil)
        let connect = try #require(await proxy.request { $0.method == "CONNECT" })
        #expect(connect.target == "127.0.0.1:\(port)")
        #expect(connect.headers["authorization"] == nil)
        let post = try #require(await server.request { _ in true })
        #expect(post.method == "POST")
        #expect(post.headers["authorization"] == "Bearer token")
        #expect(post.headers["proxy-authorization"] == nil)

        // The certificate is the backend's own, and judged as without a proxy.
        settings.caFile = nil
        let doubted = try await Self.failure(settings)
        #expect(doubted?.kind == .tls)
        #expect(doubted?.doubt == .unknownIssuer)
    }

    @Test(arguments: [(407, BackendError.Kind.unauthorized), (403, .unreachable)])
    func aProxyThatLetsNobodyThroughIsNamed(status: Int, kind: BackendError.Kind) async throws {
        let proxy = TestServer { _, connection in
            connection.answer(status, headers: "Proxy-Authenticate: Basic realm=\"p\"\r\n", "{}")
            return false
        }
        defer { proxy.stop() }
        var settings = BackendSettings(url: "https://backend.example/voice/{chat}", chat: "a", timeout: .seconds(60))
        settings.proxy = proxy.url
        let error = try await Self.failure(settings)
        #expect(error?.kind == kind)
        #expect(error?.message.contains("proxy in [backend]") == true)
    }

    @Test func settingsThatCannotWorkAreNamedBeforeAnythingIsSent() {
        func problem(_ change: (inout BackendSettings) -> Void) -> String {
            var settings = BackendSettings(url: "https://h/", chat: "a")
            change(&settings)
            do throws(BackendError) {
                try BackendClient.check(settings)
                return ""
            } catch {
                return error.message
            }
        }
        #expect(problem { $0.caFile = "/nonexistent/ca.pem" }.contains("/nonexistent/ca.pem"))
        #expect(problem { $0.caFile = "/etc/hostname" }.contains("no certificate in PEM form"))
        #expect(problem { $0.clientKey = "/k" }.contains("name the files of both"))
        #expect(problem { $0.proxyCredential = "/p" }.contains("no proxy"))
        #expect(
            problem {
                $0.url = "http://h/"
                $0.pinnedKeys = "sha256//x"
            }.contains("no https:// address"))
    }
}

@Suite struct WallClockTests {
    @Test func aClockIsWrongBeforeTheBuildAndFarFromTheFarEnds() {
        #expect(WallClock.isWrong(now: 99, buildDate: 100, farEnd: nil))
        #expect(!WallClock.isWrong(now: 100, buildDate: 100, farEnd: nil))
        #expect(!WallClock.isWrong(now: 10_000, buildDate: 0, farEnd: 13_600))
        #expect(WallClock.isWrong(now: 10_000, buildDate: 0, farEnd: 13_601))
        #expect(WallClock.isWrong(now: .min + 200, buildDate: .min, farEnd: .max))
    }

    @Test func theBuildDateIsKnownAndPast() {
        #expect((1...WallClock.now()).contains(WallClock.buildDate))
        #expect(WallClock.date("Sun, 06 Nov 1994 08:49:37 GMT") == 784_111_777)
        #expect(WallClock.date("nix") == nil)
    }
}
