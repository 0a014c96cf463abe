import Dispatch
import Synchronization
import Testing
import VoiceCore

@testable import Appliance

/// No offer is sent twice, and no voice is left open: cancels, silences and lost connections.
@Suite struct BackendDeliveryTests {
    @Test(arguments: [false, true])
    func aPostOnAReusedConnectionThatDiesIsNotSentAgain(byReset: Bool) async throws {
        let posts = Mutex(0)
        let server = TestServer { request, connection in
            guard request.method == "POST" else {
                connection.answer("")
                return true
            }
            posts.withLock { $0 += 1 }
            if byReset { connection.reset() }
            return false
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        client.warm()
        _ = await server.request { $0.method == "HEAD" }
        await client.settled(within: .seconds(300))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .noAnswer)
        #expect(posts.withLock { $0 } == 1)
    }

    @Test func aConnectionThatCannotBeOpenedIsTriedTwiceAndNamed() async throws {
        let port = TestServer.unusedPort()
        let client = try BackendClient(
            BackendSettings(url: "http://127.0.0.1:\(port)/{chat}", chat: "a"))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .unreachable)
        #expect(error?.message.contains("127.0.0.1:\(port)") == true)
    }

    @Test func aHostWithoutTLSIsNamed() async throws {
        let server = TestServer { _, _ in false }
        defer { server.stop() }
        let client = try BackendClient(
            BackendSettings(
                url: "https://127.0.0.1:\(server.port)/{chat}", chat: "a", timeout: .milliseconds(300)))
        let listener = Task { await backendError { _ = try await client.start(offer: "v=0") } }
        let error = await listener.value
        #expect(error?.kind == .unreachable || error?.kind == .tls)
    }

    @Test func aCancelledCallerIsResumedAtOnceAndTheVoiceThatComesAllTheSameIsClosed() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = TestServer { request, connection in
            if request.target.hasSuffix("/close") {
                connection.answer(#"{"seconds":0.1}"#)
            } else {
                gate.wait()
                connection.answer(goodAnswer)
            }
            return true
        }
        defer { server.stop() }
        let notices = Mutex<[String]>([])
        let client = try BackendClient(.test(server)) { text in
            notices.withLock { $0.append(text) }
        }
        let task = Task { try await client.start(offer: "v=0") }
        _ = await server.request { $0.target == "/voice/lobby" }
        task.cancel()
        // while the server still holds the answer
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.signal()
        let close = await server.request { $0.target.hasSuffix("/close") }
        #expect(close?.target == "/voice/lobby/voice-1/close")
        await client.settled(within: .seconds(300))
        #expect(notices.withLock { $0 } == ["A voice that was given up was closed at the backend after 0.1 s."])
    }

    @Test func aCallCancelledBeforeItBeginsPostsNothing() async throws {
        let server = TestServer { _, connection in
            connection.answer(goodAnswer)
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await client.start(offer: "v=0")
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        await client.settled(within: .seconds(300))
        #expect(server.connectionCount == 0)
    }

    @Test func aVoiceWhoseAnswerComesAfterTheTimeoutIsClosed() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = TestServer { request, connection in
            if request.target.hasSuffix("/close") {
                connection.answer(#"{"seconds":0.1}"#)
            } else {
                gate.wait()
                connection.answer(goodAnswer)
            }
            return true
        }
        defer { server.stop() }
        var settings = BackendSettings.test(server)
        settings.timeout = .seconds(1)
        let client = try BackendClient(settings, adoptionLimit: .seconds(300))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .timeout)
        gate.signal()
        #expect(await server.request { $0.target.hasSuffix("/close") } != nil)
    }

    @Test func aStartedVoiceWithAnUnusableAnswerIsClosed() async throws {
        let server = TestServer { request, connection in
            connection.answer(request.target.hasSuffix("/close") ? #"{"seconds":0}"# : #"{"id":"a/b","sdp":"no"}"#)
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        let error = await backendError { _ = try await client.start(offer: "v=0") }
        #expect(error?.kind == .invalidAnswer)
        #expect(await server.request { $0.target == "/voice/lobby/a%2Fb/close" } != nil)
    }

    @Test func aCancelledCloseIsSentAllTheSame() async throws {
        let gate = DispatchSemaphore(value: 0)
        let server = TestServer { _, connection in
            gate.wait()
            connection.answer(#"{"seconds":2}"#)
            return true
        }
        defer { server.stop() }
        let notices = Mutex<[String]>([])
        let client = try BackendClient(.test(server)) { text in
            notices.withLock { $0.append(text) }
        }
        let task = Task { try await client.close(voice: "a") }
        _ = await server.request { _ in true }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gate.signal()
        await client.settled(within: .seconds(300))
        #expect(notices.withLock { $0.count } == 1)
    }

    @Test func manyCallsAtOnceAreEachAnsweredOnce() async throws {
        let server = TestServer { request, connection in
            connection.answer(#"{"id":"\#(request.target.dropFirst(1).count)","sdp":"v=0"}"#)
            return true
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        let count = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<40 {
                group.addTask {
                    let task = Task { try await client.start(offer: "v=0") }
                    if index.isMultiple(of: 3) { task.cancel() }
                    return (try? await task.value) != nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count >= 26)
        await client.settled(within: .seconds(300))
    }
}
