import Dispatch
import Glibc
import Synchronization
import Testing
import VoiceCore

@testable import DemoProvider

@Suite struct ProviderTests {
    /// The voices that a stub answered, and what became of them.
    private final class Answers: Sendable {
        let closedCount = Mutex(0)
        let accepted = Mutex<[String]>([])
        let onState = Mutex<(@Sendable (PBVoiceState) -> Void)?>(nil)

        func provider(_ options: Options = Options()) throws -> Provider {
            let log = try #require(EventLog(path: "/dev/null"))
            return Provider(options, speech: nil, log: log) { offer, _, onState in
                guard offer?.hasPrefix("v=0") ?? true else { throw WAVError(message: "no offer") }
                self.onState.withLock { $0 = onState }
                let accept: @Sendable (String) async throws -> Void = { answer in
                    self.accepted.withLock { $0.append(answer) }
                }
                return AnsweredVoice(
                    answer: "v=0 answer \"\r\n", accept: offer == nil ? accept : nil,
                    close: { self.closedCount.withLock { $0 += 1 } })
            }
        }
    }

    /// On a thread that may wait.
    private static func ask(_ provider: Provider, _ method: String, _ path: String, _ body: String) async -> HTTPReply {
        await ask(provider, HTTPRequest(method: method, path: path, body: Array(body.utf8)))
    }

    private static func ask(_ provider: Provider, _ request: HTTPRequest) async -> HTTPReply {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: provider.handle(request)) }
        }
    }

    private static func start(_ provider: Provider) async throws -> String {
        let reply = await ask(provider, "POST", "/voice/lobby", #"{"sdp":"v=0\r\n"}"#)
        #expect(reply.status == 200)
        let id = try #require(reply.body.split(separator: "\"").dropFirst(3).first)
        #expect(reply.body == #"{"id":"\#(id)","sdp":"v=0 answer \"\r\n"}"#)
        return String(id)
    }

    @Test func aVoiceIsStartedAndClosedOnce() async throws {
        let answers = Answers()
        let provider = try answers.provider()
        let id = try await Self.start(provider)
        for _ in 0..<2 {
            let reply = await Self.ask(provider, "POST", "/voice/lobby/\(id)/close", "{}")
            #expect(reply.status == 200)
            #expect(reply.body.hasPrefix(#"{"seconds":"#))
        }
        #expect(answers.closedCount.withLock { $0 } == 1)
    }

    @Test(arguments: [PBVoiceState.closed, .failed])
    func aVoiceThatEndsByItselfStillTellsItsSecondsAtTheClose(state: PBVoiceState) async throws {
        let answers = Answers()
        let provider = try answers.provider()
        let id = try await Self.start(provider)
        answers.onState.withLock { $0 }?(state)
        #expect(answers.closedCount.withLock { $0 } == 1)
        #expect(await Self.ask(provider, "POST", "/voice/lobby/\(id)/close", "{}").status == 200)
    }

    @Test func severalVoicesAreOpenAtATimeAndAllAreClosedAtTheEnd() async throws {
        let answers = Answers()
        let provider = try answers.provider()
        let ids = [try await Self.start(provider), try await Self.start(provider), try await Self.start(provider)]
        #expect(Set(ids).count == 3)
        provider.stop()
        #expect(answers.closedCount.withLock { $0 } == 3)
    }

    @Test(arguments: [
        ("POST", "/voice/lobby", "nix", 400), ("POST", "/voice/lobby", #"{"sdp":1}"#, 400),
        ("POST", "/voice/lobby", #"{"sdp":"x"}"#, 500), ("POST", "/voice/lobby/x/close", "{}", 404),
        ("GET", "/voice/lobby", "", 404), ("POST", "/voice", "", 404), ("HEAD", "/", "", 200),
    ])
    func otherRequestsAreAnsweredInOrder(method: String, path: String, body: String, status: Int) async throws {
        #expect(await Self.ask(try Answers().provider(), method, path, body).status == status)
    }

    @Test func aWHIPVoiceHasALocationThatIsDeletedOrHungUp() async throws {
        let answers = Answers()
        var options = Options()
        options.kind = .whip
        let provider = try answers.provider(options)
        for (method, suffix) in [("DELETE", ""), ("POST", "/hangup")] {
            let offer = HTTPRequest(
                method: "POST", path: "/whip/lobby", type: "application/sdp", body: Array("v=0\r\n".utf8))
            let reply = await Self.ask(provider, offer)
            #expect(reply.status == 201)
            #expect(reply.type == "application/sdp")
            #expect(reply.body == "v=0 answer \"\r\n")
            let location = try #require(reply.headers.first { $0.name == "Location" }?.value)
            #expect(await Self.ask(provider, method, location + suffix, "").status == 200)
        }
        #expect(answers.closedCount.withLock { $0 } == 2)
        #expect(await Self.ask(provider, "POST", "/whip/lobby", "v=0").status == 415)
        #expect(await Self.ask(provider, "POST", "/voice/lobby", "{}").status == 404)
    }

    @Test func anOfferOfTheProvidersIsHandedOutAndItsAnswerTaken() async throws {
        let answers = Answers()
        var options = Options()
        options.kind = .answer
        let provider = try answers.provider(options)
        let reply = await Self.ask(provider, "POST", "/voice/lobby", "{}")
        let id = try #require(reply.body.split(separator: "\"").dropFirst(3).first)
        let taken = await Self.ask(
            provider, "POST", "/voice/lobby/\(id)/answer", #"{"sdp":"v=0 ours","type":"answer"}"#)
        #expect(taken.status == 200)
        #expect(answers.accepted.withLock { $0 } == ["v=0 ours"])
        #expect(await Self.ask(provider, "POST", "/voice/lobby/nix/answer", #"{"sdp":"v=0"}"#).status == 404)
        #expect(await Self.ask(provider, "POST", "/voice/lobby/\(id)/close", "{}").status == 200)
    }

    @Test func aPipecatVoiceIsAnsweredWithItsID() async throws {
        var options = Options()
        options.kind = .pipecat
        let provider = try Answers().provider(options)
        let reply = await Self.ask(provider, "POST", "/api/offer", #"{"sdp":"v=0","type":"offer"}"#)
        #expect(reply.status == 200)
        #expect(reply.body.hasPrefix(#"{"pc_id":"voice-1-"#))
        #expect(reply.body.hasSuffix(#""type":"answer"}"#))
        #expect(await Self.ask(provider, "POST", "/api/offer", #"{"sdp":"v=0"}"#).status == 400)
    }

    @Test(arguments: ["401", "403", "404", "409", "429", "500", "502", "503"])
    func aFailureOfAStatusStartsNoVoice(kind: String) async throws {
        var options = Options()
        options.startFailure = Failure(kind)
        let answers = Answers()
        let provider = try answers.provider(options)
        #expect(await Self.ask(provider, "POST", "/voice/lobby", #"{"sdp":"v=0"}"#).status == Int(kind))
        provider.stop()
        #expect(answers.closedCount.withLock { $0 } == 0)
    }

    @Test func aHangEndsWithTheProvider() async throws {
        var options = Options()
        options.closeFailure = .hang
        let provider = try Answers().provider(options)
        async let reply = Self.ask(provider, "POST", "/voice/lobby/x/close", "{}")
        provider.stop()
        #expect(await reply.ending == .closedWithoutAnswer)
    }
}

@Suite struct HTTPServerTests {
    /// What comes back on a connection of its own until it is closed, on a thread that may wait.
    private static func exchange(_ port: UInt16, _ text: String) async -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
                defer { close(socket) }
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                address.sin_port = port.bigEndian
                withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        _ = connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                    }
                }
                var bytes = Array(text.utf8)
                _ = send(socket, &bytes, bytes.count, 0)
                var all: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = recv(socket, &buffer, buffer.count, 0)
                    guard count > 0 else { break }
                    all += buffer[..<count]
                }
                continuation.resume(returning: String(decoding: all, as: UTF8.self))
            }
        }
    }

    private static func post(_ body: String) -> String {
        "POST /a%20b HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    @Test func theHandlerGetsTheRequestAndItsReplyGoesOut() async throws {
        let server = try HTTPServer(host: "127.0.0.1", port: 0) { request in
            HTTPReply(201, json: ["got": .text("\(request.method) \(request.path) \(request.body.count)")])
        }
        let answer = await Self.exchange(server.port, Self.post(String(repeating: "x", count: 5000)))
        #expect(answer.hasPrefix("HTTP/1.1 201 "))
        #expect(answer.contains("Content-Type: application/json\r\n"))
        #expect(answer.hasSuffix(#"{"got":"POST /a b 5000"}"#))
    }

    @Test(arguments: [(HTTPReply.Ending.truncated, true), (.closedWithoutAnswer, false)])
    func aSpoiltAnswerEndsItsConnection(ending: HTTPReply.Ending, hasHeader: Bool) async throws {
        let server = try HTTPServer(host: "127.0.0.1", port: 0) { _ in
            HTTPReply(200, type: "application/json", body: "12345678", ending: ending)
        }
        let answer = await Self.exchange(server.port, Self.post(""))
        #expect(answer.hasPrefix("HTTP/1.1 200") == hasHeader)
        #expect(answer.hasSuffix("\r\n\r\n1234") == hasHeader)
    }

    @Test func aBodyBeyondTheLimitIsRefused() async throws {
        let server = try HTTPServer(host: "127.0.0.1", port: 0) { _ in HTTPReply(json: [:]) }
        let body = String(repeating: "x", count: HTTPServer.bodyLimit + 1)
        #expect(await Self.exchange(server.port, Self.post(body)).hasPrefix("HTTP/1.1 413"))
    }

    @Test func aPortInUseIsNamed() throws {
        let server = try HTTPServer(host: "127.0.0.1", port: 0) { _ in HTTPReply(json: [:]) }
        #expect(throws: HTTPServer.Failed.self) {
            try HTTPServer(host: "127.0.0.1", port: server.port) { _ in HTTPReply(json: [:]) }
        }
        #expect(server.port != 0)
    }
}
