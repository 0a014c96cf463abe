import Synchronization
import Testing
import VoiceCore

@testable import Appliance

/// The backend hears of each voice's end, be it at the second try or after a power cut.
@Suite struct BackendClosingTests {
    /// Starts voices 1, 2, …, and answers closes as it is told.
    private final class Service: Sendable {
        let startCount = Mutex(0)
        let closes = Mutex<[String]>([])
        let closeStatus: Mutex<Int>

        init(closeStatus: Int = 200) {
            self.closeStatus = Mutex(closeStatus)
        }

        func serve(_ request: TestServer.Request, _ connection: TestServer.Connection) -> Bool {
            guard request.target.firstPlace(of: "/close") != nil else {
                let number = startCount.withLock { count in
                    count += 1
                    return count
                }
                connection.answer(#"{"id":"voice-\#(number)","sdp":"v=0\r\n"}"#)
                return true
            }
            closes.withLock { $0.append(request.target) }
            let status = closeStatus.withLock { $0 }
            connection.answer(status, status == 200 ? #"{"seconds":1.5}"# : #"{"error":"x"}"#)
            return true
        }
    }

    @Test func aCloseThatDidNotWorkIsTriedAgainInTheBackground() async throws {
        let service = Service(closeStatus: 500)
        let server = TestServer { request, connection in
            let keep = service.serve(request, connection)
            if request.target.hasSuffix("/close") { service.closeStatus.withLock { $0 = 200 } }
            return keep
        }
        defer { server.stop() }
        let (told, notices) = AsyncStream<String>.makeStream()
        let client = try BackendClient(.test(server), notice: { notices.yield($0) }, closeWait: { _, _ in .zero })
        let error = await backendError { _ = try await client.close(voice: "voice-9") }
        #expect(error?.status == 500)
        var waiting = told.makeAsyncIterator()
        #expect(await waiting.next() == "The voice voice-9 was closed at the backend after 1.5 s.")
        #expect(service.closes.withLock { $0.count } == 2)
    }

    @Test(arguments: [404, 410])
    func aVoiceThatTheBackendDoesNotKnowIsClosed(status: Int) async throws {
        let service = Service(closeStatus: status)
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let client = try BackendClient(.test(server), closeWait: { _, _ in .zero })
        #expect(try await client.close(voice: "a") == nil)
        await client.settled(within: .seconds(60))
        #expect(service.closes.withLock { $0.count } == 1)
    }

    @Test func anOpenVoiceIsOnDiskUntilItIsClosed() async throws {
        let service = Service()
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let directory = ScratchDirectory()
        let bearer = CredentialFile("sesame-token")
        var settings = BackendSettings.test(server)
        settings.url += "?key=sesame-query"
        settings.bearerCredential = bearer.path
        settings.stateDirectory = directory.path
        let client = try BackendClient(settings)
        _ = try await client.start(offer: "v=0")
        await client.settled(within: .seconds(60))
        #expect(directory.mode(of: "open-voices") == 0o600)
        let text = try #require(directory.text(of: "open-voices"))
        #expect(text.contains("voice-1"))
        #expect(!text.contains("sesame"))
        #expect(try await client.close(voice: "voice-1") == 1.5)
        await client.settled(within: .seconds(60))
        #expect(directory.mode(of: "open-voices") == nil)
    }

    @Test func voicesThatAPowerCutLeftOpenAreClosedAtTheNextStart() async throws {
        let service = Service()
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let directory = ScratchDirectory()
        var settings = BackendSettings.test(server)
        settings.stateDirectory = directory.path
        let cut = try BackendClient(settings)
        for _ in 0..<3 { _ = try await cut.start(offer: "v=0") }
        await cut.settled(within: .seconds(60))

        let notices = Mutex<[String]>([])
        let next = try BackendClient(settings, notice: { text in notices.withLock { $0.append(text) } })
        next.closeLeftOpen()
        await next.settled(within: .seconds(60))
        let expected = (1...3).map { "/voice/lobby/voice-\($0)/close" }
        #expect(service.closes.withLock { $0.sorted() } == expected)
        #expect(notices.withLock { $0.count } == 3)
        #expect(directory.mode(of: "open-voices") == nil)
    }

    @Test(arguments: [(500, true), (401, true), (403, false), (400, false)])
    func whatTheBackendRefusesForGoodAtTwoStartsIsLaidDown(status: Int, isKept: Bool) async throws {
        let service = Service(closeStatus: status)
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        let directory = ScratchDirectory()
        var settings = BackendSettings.test(server)
        settings.stateDirectory = directory.path
        let first = try BackendClient(settings, closeWait: { _, _ in nil })
        _ = try await first.start(offer: "v=0")
        _ = await backendError { _ = try await first.close(voice: "voice-1") }
        await first.settled(within: .seconds(60))
        #expect(directory.mode(of: "open-voices") != nil)

        let next = try BackendClient(settings, closeWait: { _, _ in nil })
        next.closeLeftOpen()
        await next.settled(within: .seconds(60))
        #expect((directory.mode(of: "open-voices") != nil) == isKept)
    }

    @Test func aDirectoryThatCannotBeWrittenIsSaidOnceAndKeepsNobodyFromTalking() async throws {
        let service = Service()
        let server = TestServer { service.serve($0, $1) }
        defer { server.stop() }
        var settings = BackendSettings.test(server)
        settings.stateDirectory = "/nonexistent/state"
        let notices = Mutex<[String]>([])
        let client = try BackendClient(settings, notice: { text in notices.withLock { $0.append(text) } })
        _ = try await client.start(offer: "v=0")
        _ = try await client.start(offer: "v=0")
        await client.settled(within: .seconds(60))
        #expect(notices.withLock { $0.count } == 1)
        #expect(notices.withLock { $0.first?.contains("/nonexistent/state/open-voices") } == true)
    }
}

@Suite struct CloseRetryTests {
    @Test func itIsTriedAtGrowingIntervalsForAnHour() {
        let error = BackendError(.unreachable, "")
        var waits: [Duration] = []
        while let wait = CloseRetry.wait(afterFailures: waits.count + 1, error), waits.count < 100 {
            waits.append(wait)
        }
        #expect(waits.prefix(4).elementsEqual([.seconds(1), .seconds(2), .seconds(4), .seconds(8)]))
        #expect(waits.max() == .seconds(300))
        let total = waits.reduce(Duration.zero) { $0 + $1 }
        #expect(total > .seconds(2400) && total <= .seconds(3600))
    }

    @Test func aBackendThatAsksForMoreTimeGetsItWithinReason() {
        var error = BackendError(.busy, "", status: 503)
        error.retryAfter = .seconds(60)
        #expect(CloseRetry.wait(afterFailures: 1, error) == .seconds(60))
        error.retryAfter = .seconds(80_000)
        #expect(CloseRetry.wait(afterFailures: 1, error) == .seconds(300))
    }

    @Test func theFileReadsBackAndWhatIsSpoiltIsLeftOut() {
        let voices = [
            UnclosedVoice(kind: .contract, id: "a/\"b", chat: "é"),
            UnclosedVoice(kind: .whip, id: "c", chat: "x", location: "https://h/s/c?t=1"),
        ]
        #expect(UnclosedVoices.read(UnclosedVoices.bytes(of: voices)) == voices)
        let spoilt =
            #"{"voices":[{"kind":"nix","id":"a","chat":"b"},{"kind":"whip","id":"a","chat":"b","location":"file:///x"},3]}"#
        #expect(UnclosedVoices.read(Array(spoilt.utf8)).isEmpty)
        #expect(UnclosedVoices.read(Array("{\"voic".utf8)).isEmpty)
    }
}
