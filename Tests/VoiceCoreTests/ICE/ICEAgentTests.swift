import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ICEAgentTests {
    struct Situation: Sendable, CustomTestStringConvertible {
        var name: String
        var offererControls = true
        var answererControls = false
        var answererIsLite = false
        var loss = 0.0
        var jitter: Duration = .zero
        var duplication = 0.0
        var answerDelay: Duration = .zero
        var nat: VirtualNAT.Kind?
        var testDescription: String { name }

        static let all = [
            Situation(name: "offerer controls"),
            Situation(name: "both claim to control", answererControls: true),
            Situation(name: "neither claims to control", offererControls: false),
            Situation(name: "roles turned round", offererControls: false, answererControls: true),
            Situation(name: "ice-lite answerer", answererIsLite: true),
            Situation(
                name: "ice-lite, offerer believes itself controlled", offererControls: false, answererIsLite: true),
            Situation(name: "answer late", answerDelay: .milliseconds(300)),
            Situation(name: "answer later than a check lives", answerDelay: .seconds(20)),
            Situation(name: "loss 30 %", loss: 0.3),
            Situation(name: "loss 30 %, ice-lite", answererIsLite: true, loss: 0.3),
            Situation(name: "loss 30 %, both control", answererControls: true, loss: 0.3),
            Situation(name: "reordered and duplicated", jitter: .milliseconds(300), duplication: 0.5),
            Situation(
                name: "both control, reordered", answererControls: true, jitter: .milliseconds(300), duplication: 0.5),
            Situation(name: "offerer behind a full cone NAT", nat: .fullCone),
            Situation(name: "offerer behind a restricting NAT", nat: .portRestricted),
            Situation(name: "offerer behind a symmetric NAT", answerDelay: .milliseconds(50), nat: .symmetric),
            Situation(name: "NAT and ice-lite", answererIsLite: true, nat: .symmetric),
            Situation(name: "NAT, loss and a late answer", loss: 0.3, answerDelay: .seconds(1), nat: .portRestricted),
        ]
    }

    @Test(arguments: Situation.all)
    func twoAgentsConnectOverOnePath(situation: Situation) {
        for seed in UInt64(0)..<20 {
            let session = ICESession(
                seed: seed, offererControls: situation.offererControls, answererControls: situation.answererControls,
                answererIsLite: situation.answererIsLite)
            session.network.linkBetween = { _, _ in
                VirtualNetwork.Link(jitter: situation.jitter, loss: situation.loss, duplication: situation.duplication)
            }
            let outside = SocketAddress("203.0.113.9:1").ip
            if let nat = situation.nat {
                session.network.put(
                    SocketAddress("192.0.2.1:5000").ip, behind: VirtualNAT(nat, address: outside))
            }
            session.signal(answerAfter: situation.answerDelay)
            #expect(session.connect(), "seed \(seed)")
            session.network.run(.seconds(3))
            #expect(session.offerer.agent.isControlling != session.answerer.agent.isControlling, "seed \(seed)")
            #expect(session.offerer.agent.selectedRoute == ICESession.toAnswerer)
            let seen = session.answerer.agent.selectedRoute?.remote.ip
            #expect(seen == (situation.nat == nil ? ICESession.toOfferer.remote.ip : outside), "seed \(seed)")
        }
    }

    @Test func aPathWithoutLossTakesOneRoundTripToBeValidAndTwoToBeSelected() {
        let session = ICESession(seed: 1)
        let start = session.network.now
        session.signal()
        #expect(session.connect())
        session.network.run(.milliseconds(100))
        let offerer = session.offerer
        let answerer = session.answerer
        #expect(offerer.time(of: .validPath(ICESession.toAnswerer)) == start + .milliseconds(20))
        #expect(offerer.time(of: .selected(ICESession.toAnswerer)) == start + .milliseconds(40))
        // The controlled side selects when the nomination comes: its own check was answered long before.
        #expect(answerer.time(of: .validPath(ICESession.toOfferer)) == start + .milliseconds(20))
        #expect(answerer.time(of: .selected(ICESession.toOfferer)) == start + .milliseconds(30))
        // A check and its triggered twin on each side, and the nomination.
        #expect(offerer.agent.statistics.checksSent == 3)
        #expect(answerer.agent.statistics.checksSent == 2)
        #expect(offerer.agent.statistics.retransmissionsSent == 0)
    }

    @Test func towardsALitePeerTwoMessagesGoAndTwoCome() {
        let session = ICESession(seed: 1, answererIsLite: true)
        let start = session.network.now
        session.signal()
        #expect(session.connect())
        #expect(session.network.now == start + .milliseconds(40))
        #expect(session.offerer.agent.statistics.checksSent == 2)
        #expect(session.offerer.agent.statistics.answersReceived == 2)
        #expect(session.offerer.agent.selectedRoundTrip == .milliseconds(20))
    }

    @Test func severalPathsOfBothFamiliesArePairedOnlyWithTheirOwnKind() {
        let session = ICESession(
            seed: 5, offererAddresses: ["[fe80::1]:1", "[2001:db8::1]:2", "192.0.2.1:3", "127.0.0.1:4"],
            answererAddresses: ["[fe80::2]:5", "[2001:db8::2]:6", "198.51.100.1:7", "127.0.0.1:8"])
        session.signal()
        #expect(session.connect())
        session.network.run(.seconds(1))
        let agent = session.offerer.agent
        let paths = (0..<4).map { PathID(rawValue: UInt16($0)) }
        let far = ["[fe80::2]:5", "[2001:db8::2]:6", "198.51.100.1:7", "127.0.0.1:8"].map { SocketAddress($0) }
        for path in paths.indices {
            for remote in far.indices {
                let route = Route(path: paths[path], remote: far[remote])
                #expect(agent.accepts(route) == (path == remote), "\(route)")
            }
        }
        #expect(!agent.accepts(Route(path: paths[2], remote: SocketAddress("198.51.100.1:8"))))
        #expect(!agent.accepts(Route(path: PathID(rawValue: 9), remote: far[2])))
    }

    @Test func severalHundredRandomNetworksWithAWorkingPathAllConnect() {
        for seed in UInt64(0)..<300 {
            var random = Entropy.seeded(seed)
            let mine = (0..<Int.random(in: 1...4, using: &random)).map { "10.1.\($0).1:\(5000 + $0)" }
            let theirs = (0..<Int.random(in: 1...4, using: &random)).map { "10.2.\($0).1:\(6000 + $0)" }
            let isLite = random.next() % 3 == 0
            let session = ICESession(
                seed: seed, offererControls: random.next() % 4 != 0, answererControls: random.next() % 4 == 0,
                answererIsLite: isLite, offererAddresses: mine, answererAddresses: theirs)
            // Half of the combinations are blocked both ways, one never is.
            let working = [mine.randomElement(using: &random), theirs.randomElement(using: &random)]
            var links: [[IPAddress]: VirtualNetwork.Link] = [:]
            for a in mine {
                for b in theirs {
                    let link = VirtualNetwork.Link(
                        delay: .milliseconds(Int64.random(in: 0...150, using: &random)),
                        jitter: .milliseconds(Int64.random(in: 0...60, using: &random)),
                        loss: Double.random(in: 0...0.3, using: &random),
                        duplication: Double.random(in: 0...0.2, using: &random),
                        isBlocked: Bool.random(using: &random) && [a, b] != working)
                    links[[SocketAddress(a).ip, SocketAddress(b).ip]] = link
                    links[[SocketAddress(b).ip, SocketAddress(a).ip]] = link
                }
            }
            session.network.linkBetween = { links[[$0, $1]] ?? VirtualNetwork.Link(isBlocked: true) }
            session.signal(answerAfter: .milliseconds(Int64.random(in: 0...800, using: &random)))
            #expect(session.connect(), "seed \(seed)")
        }
    }

    struct DeadEnd: Sendable {
        var candidates: [Candidate]
        var isLite: Bool
        var reason: ICEFailure
        var limit: Duration

        static let all = [
            DeadEnd(candidates: [], isLite: true, reason: .noUsableCandidate, limit: .seconds(3)),
            DeadEnd(candidates: [], isLite: false, reason: .noUsableCandidate, limit: .seconds(11)),
            DeadEnd(
                candidates: [
                    .host("[2001:db8::9]:1"), .host("0.0.0.0:7"), .host("224.0.0.1:7"), .host("198.51.100.1:0"),
                    .host("127.0.0.1:80"), .host("198.51.100.1:443", transport: .tcp(.passive)),
                ], isLite: true, reason: .noUsableCandidate, limit: .seconds(3)),
            DeadEnd(candidates: [.host("198.51.100.9:7")], isLite: false, reason: .noAnswer, limit: .seconds(9)),
            DeadEnd(candidates: [.host("198.51.100.9:7")], isLite: true, reason: .noAnswer, limit: .seconds(9)),
        ]
    }

    @Test(arguments: DeadEnd.all)
    func whereThereIsNoPathTheEndComesInTimeWithAReason(deadEnd: DeadEnd) throws {
        let network = VirtualNetwork(seed: 1)
        let node = ICENode(isControlling: true, seed: 1, addresses: ["192.0.2.1:5000"], at: network.now)
        network.add(node)
        let start = network.now
        node.agent.setRemote(
            ICECredentials(fragment: "abcd", password: "0123456789012345678901"), isLite: deadEnd.isLite,
            candidates: deadEnd.candidates, at: network.now)
        network.run(.seconds(60))
        let end = try #require(node.time(of: .failed(deadEnd.reason)))
        #expect(end - start <= deadEnd.limit)
        #expect(node.agent.deadline == nil)
        #expect(node.events.count == 1)
    }

    @Test func aClosedAgentIsSilent() throws {
        let session = ICESession(seed: 6)
        session.signal()
        #expect(session.connect())
        let route = try #require(session.offerer.agent.selectedRoute)
        session.offerer.agent.close()
        #expect(session.offerer.agent.deadline == nil)
        #expect(!session.offerer.agent.accepts(route))
        let counted = session.offerer.agent.statistics
        session.network.run(.seconds(20))
        #expect(session.offerer.agent.statistics == counted)
        #expect(session.offerer.takeTransmits().isEmpty)
    }

    @Test func mutatedDatagramsNeverTrapAndNeverMakeAPath() {
        var random = Entropy.seeded(11)
        var genuine: [[UInt8]] = []
        let source = ICESession(seed: 9)
        source.network.tamper = { bytes, _, _ in
            genuine.append(bytes)
            return bytes
        }
        source.signal()
        #expect(source.connect())

        // The same seed gives the same secrets, so the unchanged datagrams would be authentic.
        let session = ICESession(seed: 9)
        session.answerer.setRemote(session.offerer, at: session.network.now)
        let from = Route(path: PathID(rawValue: 0), remote: SocketAddress("203.0.113.77:9"))
        for round in 0..<6000 {
            var bytes = genuine[round % genuine.count]
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // What MESSAGE-INTEGRITY covers, and itself; a FINGERPRINT that turned into something else is only missing.
                let position = Int.random(in: 0..<bytes.count - 8, using: &random)
                bytes[position] = bytes[position] &+ UInt8.random(in: 1...80, using: &random)
            }
            bytes.withUnsafeBytes { session.answerer.agent.receive($0, from: from, at: session.network.now) }
            _ = session.answerer.takeTransmits()
        }
        #expect(!session.answerer.agent.accepts(from))
        #expect(!session.answerer.agent.hasHeard(from))
        let statistics = session.answerer.agent.statistics
        #expect(statistics.requestsReceived == 0)
        #expect(statistics.malformed + statistics.wrongFingerprint + statistics.indications > 5000)
    }
}
