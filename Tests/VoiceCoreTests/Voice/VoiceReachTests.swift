import Glibc
import Testing

@testable import Support
@testable import VoiceCore

/// Servers as they reach a voice, over loopback.
@MainActor
@Suite(.serialized) struct VoiceReachTests {
    init() {
        PBVoice.configuration = VoiceConfiguration()
        PBVoice.configuration.interfaces = ["lo"]
        PBVoice.configuration.offersLoopback = true
        PBVoice.audioDevice = TestDevice()
        PBVoice.learnt = []
    }

    /// What the provider offers with, in this process.
    private func far() throws -> VoiceRuntime {
        try VoiceRuntime(side: .offering, configuration: PBVoice.configuration) { _ in }
    }

    @Test func anOfferWaitsForTheServersThatTheHostNamedAfterTheVoiceWasPrepared() async throws {
        PBVoice.prepare()
        let server = try STUNResponder()
        defer { server.stop() }
        PBVoice.configuration.iceServers = [ICEServer(urls: [server.url])]
        var offer = ""
        _ = try? await PBVoice.connect(start: { sdp in
            offer = sdp
            throw CancellationError()
        })
        #expect(offer.contains(" 127.9.9.9 40000 typ srflx"))
    }

    @Test func anAnswerNamesWhatTheBackendsServersSay() async throws {
        let far = try far()
        defer { far.close() }
        let server = try STUNResponder()
        defer {
            server.stop()
            PBVoice.learnt = []
        }
        var answer = ""
        _ = try? await PBVoice.connect(
            offered: {
                var started = PBStartedVoice(id: "a", sdp: try await far.offer(timeout: .seconds(10)))
                started.iceServers = [ICEServer(urls: [server.url])]
                return started
            },
            answer: { _, sdp in
                answer = sdp
                throw CancellationError()
            })
        #expect(answer.contains(" 127.9.9.9 40000 typ srflx"))
    }

    @Test func anAnswerWaitsForADeadServerForASecondAtMost() async throws {
        let far = try far()
        defer { far.close() }
        // A socket that nobody reads.
        let silent = try UDPSocket(ip: .v4(0x7F00_0001))
        let offer = try await far.offer(timeout: .seconds(10))
        PBVoice.configuration.iceServers = [ICEServer(urls: ["stun:127.0.0.1:\(silent.address.port)"])]
        let begin = Instant.now
        _ = try? await PBVoice.connect(
            offered: { PBStartedVoice(id: "a", sdp: offer) }, answer: { _, _ in throw CancellationError() })
        let took = withExtendedLifetime(silent) { Instant.now - begin }
        #expect(took >= .milliseconds(900))
        #expect(took < .seconds(3))
    }
}

/// A STUN server on loopback that sees everybody at 127.9.9.9:40000, until it is stopped.
private final class STUNResponder: Sendable {
    let url: String
    private let task: Task<Void, Never>

    init() throws {
        let socket = try UDPSocket(ip: .v4(0x7F00_0001))
        url = "stun:127.0.0.1:\(socket.address.port)"
        let descriptor = Held(socket)
        task = Task.detached {
            let socket = descriptor.socket
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_500, alignment: 8)
            defer { bytes.deallocate() }
            while !Task.isCancelled {
                var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
                poll(&waiting, 1, 20)
                while let (byteCount, from) = socket.receive(into: bytes) {
                    let request = UnsafeRawBufferPointer(rebasing: bytes[..<byteCount])
                    guard let message = try? STUNMessage(parsing: request) else { continue }
                    var writer = STUNWriter(bytes, kind: .success, transaction: message.transaction)
                    writer.xorMappedAddress(SocketAddress("127.9.9.9:40000"))
                    guard let count = writer.finish(key: nil) else { continue }
                    _ = socket.send(UnsafeRawBufferPointer(rebasing: bytes[..<count]), to: from)
                }
            }
        }
    }

    func stop() { task.cancel() }

    /// Handed over whole: whoever made the socket does not keep it.
    private struct Held: @unchecked Sendable {
        let socket: UDPSocket

        init(_ socket: UDPSocket) { self.socket = socket }
    }
}
