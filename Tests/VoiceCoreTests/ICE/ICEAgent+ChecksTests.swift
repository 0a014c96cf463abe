import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ICEAgentChecksTests {
    private let peer = ICECredentials(fragment: "peer", password: "peerpeerpeerpeerpeerpeer")

    /// When which remote port was sent a check, on a network where nobody answers.
    private func unanswered(
        _ candidates: [Candidate], for duration: Duration
    ) -> [(after: Duration, port: UInt16, bytes: [UInt8])] {
        let network = VirtualNetwork(seed: 1)
        let node = ICENode(isControlling: true, seed: 1, addresses: ["192.0.2.1:5000"], at: network.now)
        network.add(node)
        let start = network.now
        var sent: [(after: Duration, port: UInt16, bytes: [UInt8])] = []
        network.tamper = { bytes, _, to in
            sent.append((network.now - start, to.port, bytes))
            return bytes
        }
        node.agent.setRemote(peer, isLite: false, candidates: candidates, at: network.now)
        network.run(duration)
        return sent
    }

    @Test func theFirstCheckLeavesAtOnceAndTheOthersFollowEach5MillisecondsByPriority() {
        let candidates = (0..<5).map { Candidate.host("198.51.100.1:\(100 + $0)", priority: UInt32(1000 + $0)) }
        let sent = unanswered(candidates, for: .milliseconds(99))
        #expect(sent.map(\.port) == [104, 103, 102, 101, 100])
        #expect(sent.map(\.after) == (0..<5).map { .milliseconds($0 * 5) })
    }

    @Test func aCheckIsRepeatedFourTimesEachTimeTwiceAsLate() {
        let sent = unanswered([.host("198.51.100.1:100")], for: .milliseconds(2_299))
        #expect(sent.map(\.after) == [0, 100, 300, 700, 1500].map { .milliseconds($0) })
        #expect(Set(sent.map(\.bytes)).count == 1)
    }

    @Test func whatWasNeverAnsweredIsCheckedAnewWhileThereIsNoPath() {
        let sent = unanswered([.host("198.51.100.1:100")], for: .seconds(29))
        // Five sends take 2.3 s, and after 9 s without a sign of the other side it is over.
        #expect(Set(sent.map(\.bytes)).count == 4)
        #expect(sent.count == 20)
    }

    @Test func aCheckSaysWhatRFC8445Asks() throws {
        let sent = unanswered([.host("198.51.100.1:100")], for: .milliseconds(1))
        let bytes = try #require(sent.first?.bytes)
        try bytes.withUnsafeBytes { raw in
            let message = try STUNMessage(parsing: raw)
            let username = message.username.map { String(decoding: $0, as: UTF8.self) } ?? ""
            #expect(username.hasPrefix("peer:"))
            #expect(username.count == 9)
            #expect(message.isAuthentic(STUNKey(password: peer.password)))
            #expect(message.hasFingerprint)
            #expect(message.priority == Candidate.priority(.peerReflexive, localPreference: 65535))
            #expect(!message.usesCandidate)
            if case .controlling = message.role {} else { Issue.record("not controlling") }
        }
    }

    @Test func aLongListOfCandidatesMakesAsManyPairsAsAllowed() {
        let candidates = (0..<5000).map { Candidate.host("198.51.100.1:\(1000 + $0)", priority: UInt32(1 + $0)) }
        let sent = unanswered(candidates, for: .milliseconds(400))
        // The best of them.
        let best = Set(UInt16(5968)...5999)
        #expect(Set(sent.map(\.port)) == best)
    }

    @Test func onceAPairIsSelectedNoFurtherCheckIsBegun() {
        let session = ICESession(
            seed: 2, answererIsLite: true,
            answererAddresses: (0..<20).map { "198.51.100.1:\(6000 + $0)" })
        session.network.linkBetween = { _, _ in VirtualNetwork.Link(delay: .milliseconds(1)) }
        session.signal()
        #expect(session.connect())
        let before = session.offerer.agent.statistics.checksSent
        session.network.run(.seconds(3))
        #expect(session.offerer.agent.statistics.checksSent == before)
        #expect(before < 5)
    }
}
