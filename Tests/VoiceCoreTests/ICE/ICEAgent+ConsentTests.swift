import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ICEAgentConsentTests {
    private let password = "peerpeerpeerpeerpeerpeer"
    private let provider = SocketAddress("203.0.113.1:3478")

    /// An agent connected to an ice-lite stub, which from then on answers as told: with the number of the request, from 0.
    private func connected(
        seed: UInt64 = 1, answers: @escaping (Int) -> Bool
    ) throws -> (network: VirtualNetwork, node: ICENode, requests: () -> [(at: Instant, bytes: [UInt8])]) {
        let network = VirtualNetwork(seed: seed)
        let node = ICENode(isControlling: true, seed: seed, addresses: ["192.0.2.1:5000"], at: network.now)
        network.add(node)
        let log = RequestLog()
        network.addStub(at: provider) { [password] bytes, source in
            if node.isConnected {
                log.requests.append((network.now, bytes))
                guard answers(log.requests.count - 1) else { return nil }
            }
            return liteAnswer(bytes, from: source, password: password)
        }
        node.agent.setRemote(
            ICECredentials(fragment: "peer", password: password), isLite: true, candidates: [.host("\(provider)")],
            at: network.now)
        network.run(until: { node.isConnected }, within: .seconds(1))
        try #require(node.isConnected)
        return (network, node, { log.requests })
    }

    private final class RequestLog {
        var requests: [(at: Instant, bytes: [UInt8])] = []
    }

    @Test func checksGoOutEach4To4Point8SecondsWithAFreshTransactionAndTheNomination() throws {
        let (network, _, requests) = try connected { _ in true }
        let start = network.now
        network.run(.seconds(600))
        let times = [start] + requests().map { $0.at }
        let gaps = zip(times.dropFirst(), times).map { $0 - $1 }
        #expect(gaps.count > 120)
        // The first gap holds the way to the stub as well.
        #expect(gaps.allSatisfy { $0 >= .seconds(4) && $0 <= .milliseconds(4810) })
        #expect(Set(gaps.map { $0.wholeNanoseconds / 100_000_000 }).count >= 8)
        var transactions: Set<STUNTransactionID> = []
        for (_, bytes) in requests() {
            try bytes.withUnsafeBytes { raw in
                let message = try STUNMessage(parsing: raw)
                #expect(message.usesCandidate)
                transactions.insert(message.transaction)
            }
        }
        #expect(transactions.count == requests().count)
    }

    @Test func silenceIsADisconnectionAfter5SecondsAndTheEndAfter30() throws {
        let (network, node, requests) = try connected { $0 < 2 }
        network.run(.seconds(60))
        // The two answered checks were the last signs of life. The next check and its repetitions have their time.
        let answered = try #require(requests().dropFirst().first).at + .milliseconds(10)
        let silence = try #require(node.time(of: .disconnected)) - answered
        #expect(silence >= .seconds(5) && silence <= .seconds(6))
        #expect(node.events.suffix(2).map(\.event) == [.disconnected, .failed(.consentLost)])
        #expect(node.time(of: .failed(.consentLost)) == answered + .seconds(30))
        #expect(node.agent.selectedRoute == nil)
        #expect(!node.agent.accepts(Route(path: PathID(rawValue: 0), remote: provider)))
        #expect(node.agent.statistics.consentChecksSent >= 8)
    }

    @Test func theNextAnswerRecovers() throws {
        let (network, node, requests) = try connected { $0 < 1 || $0 > 8 }  // two checks with all repetitions
        network.run(.seconds(40))
        #expect(node.events.suffix(2).map(\.event) == [.disconnected, .recovered])
        let tenth = try #require(requests().dropFirst(9).first).at
        #expect(node.time(of: .recovered) == tenth + .milliseconds(10))
        network.run(.seconds(60))
        #expect(node.failure == nil)
    }

    @Test func oneLostReplyInThreeIsNotEvenNoticed() throws {
        let (network, node, requests) = try connected { $0 % 3 != 2 }
        let before = node.events.count
        network.run(.seconds(3600))
        #expect(node.isConnected)
        #expect(node.events.count == before)
        #expect(requests().count > 900)
    }

    @Test func withoutLossAnHourPassesWithoutAnEvent() throws {
        let (network, node, _) = try connected { _ in true }
        network.linkBetween = { _, _ in VirtualNetwork.Link(delay: .milliseconds(80)) }
        let before = node.events.count
        network.run(.seconds(3600))
        #expect(node.events.count == before)
    }

    @Test func errorsAreNoConsent() throws {
        let network = VirtualNetwork(seed: 1)
        let node = ICENode(isControlling: true, seed: 1, addresses: ["192.0.2.1:5000"], at: network.now)
        network.add(node)
        network.addStub(at: provider) { [password] bytes, source in
            guard node.isConnected else { return liteAnswer(bytes, from: source, password: password) }
            return bytes.withUnsafeBytes { raw in
                (try? STUNMessage(parsing: raw)).map { message in
                    stunMessage(.error, message.transaction, password: password) {
                        $0.errorCode(400, reason: "Bad Request")
                    }
                }
            }
        }
        node.agent.setRemote(
            ICECredentials(fragment: "peer", password: password), isLite: true, candidates: [.host("\(provider)")],
            at: network.now)
        network.run(.seconds(60))
        #expect(node.failure == .consentLost)
        #expect(node.agent.statistics.refusals >= 6)
    }

    @Test func anAnswerThatIsTwoChecksLateStillCounts() throws {
        let (network, node, _) = try connected { _ in true }
        // Each answer takes 9 s: always for an earlier check than the last.
        network.linkBetween = { from, _ in
            VirtualNetwork.Link(delay: from == SocketAddress("203.0.113.1:1").ip ? .seconds(9) : .zero)
        }
        network.run(.seconds(300))
        #expect(node.failure == nil)
        #expect(node.isConnected)
    }

    @Test func theControlledSideAsksToo() {
        let session = ICESession(seed: 1)
        session.signal()
        #expect(session.connect())
        session.network.run(.seconds(20))
        #expect(session.answerer.agent.statistics.consentChecksSent >= 4)
        session.network.linkBetween = { from, _ in
            VirtualNetwork.Link(isBlocked: from == SocketAddress("192.0.2.1:1").ip)
        }
        session.network.run(.seconds(40))
        #expect(session.offerer.failure == .consentLost)
        #expect(session.answerer.failure == .consentLost)
    }

    @Test func aPathThatGoesIsReplacedByTheNextValidOne() {
        let session = ICESession(seed: 7, offererAddresses: ["192.0.2.1:1", "192.0.2.2:2"])
        session.network.linkBetween = { from, to in
            let slow = SocketAddress("192.0.2.2:2").ip
            return VirtualNetwork.Link(delay: .milliseconds(from == slow || to == slow ? 13 : 10))
        }
        session.signal()
        #expect(session.connect())
        session.network.run(.seconds(10))
        #expect(session.offerer.agent.selectedRoute?.path == PathID(rawValue: 0))
        session.offerer.agent.removeLocal(path: PathID(rawValue: 0), at: session.network.now)
        #expect(session.offerer.agent.selectedRoute?.path == PathID(rawValue: 1))
        session.network.run(.seconds(60))
        #expect(session.answerer.agent.selectedRoute?.remote == SocketAddress("192.0.2.2:2"))
        #expect(session.offerer.failure == nil)
        #expect(session.answerer.failure == nil)
    }

    @Test func whenTheOnlyPathGoesANewOneIsSearchedFor() {
        let session = ICESession(seed: 8)
        session.signal()
        #expect(session.connect())
        session.network.run(.seconds(10))
        session.offerer.agent.removeLocal(path: PathID(rawValue: 0), at: session.network.now)
        #expect(session.offerer.agent.selectedRoute == nil)
        session.network.run(.seconds(2))
        session.offerer.addLocal(PathID(rawValue: 5), "192.0.2.7:5", localPreference: 9, at: session.network.now)
        session.network.run(.seconds(2))
        #expect(session.offerer.agent.selectedRoute?.path == PathID(rawValue: 5))
        #expect(session.answerer.agent.selectedRoute?.remote == SocketAddress("192.0.2.7:5"))
        #expect(session.offerer.events.suffix(2).map(\.event).contains(.recovered))
    }

    @Test(arguments: UInt64(1)...3)
    func anHourBesideALitePeerThatAnswersNominationsOnlyAndLosesOneReplyInThree(seed: UInt64) {
        let network = VirtualNetwork(seed: seed)
        let node = ICENode(isControlling: true, seed: seed, addresses: ["192.0.2.1:5000"], at: network.now)
        network.add(node)
        var random = Entropy.seeded(seed)
        network.addStub(at: provider) { [password] bytes, source in
            let nominates = bytes.withUnsafeBytes { (try? STUNMessage(parsing: $0))?.usesCandidate ?? false }
            guard nominates, Int.random(in: 0..<3, using: &random) != 0 else { return nil }
            return liteAnswer(bytes, from: source, password: password)
        }
        node.agent.setRemote(
            ICECredentials(fragment: "peer", password: password), isLite: true, candidates: [.host("\(provider)")],
            at: network.now)
        network.run(.seconds(3600))
        #expect(node.isConnected)
        #expect(node.failure == nil)
        // Four losses in a row, of 750 checks about ten.
        #expect(node.events.filter { $0.event == .disconnected }.count < 30)
        let start = node.events.first?.at
        #expect(start.map { $0 < Instant(nanoseconds: 4_000_000_000) } == true)
    }
}
