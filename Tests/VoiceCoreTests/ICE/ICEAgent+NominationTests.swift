import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ICEAgentNominationTests {
    /// A provider of three hosts, as far away as given, with equal priorities, and whom the kiosk nominates after how long.
    private func nominate(_ delays: [Int64], isLite: Bool) -> (address: String, after: Duration)? {
        let hosts = (0..<delays.count).map { "203.0.113.\($0 + 1):3478" }
        let session = ICESession(seed: 3, answererIsLite: isLite, answererAddresses: hosts)
        session.network.linkBetween = { from, to in
            let index = hosts.firstIndex { SocketAddress($0).ip == from || SocketAddress($0).ip == to } ?? 0
            return VirtualNetwork.Link(delay: .microseconds(delays[index] * 500))
        }
        let candidates = hosts.map { Candidate.host($0) }
        session.answerer.setRemote(session.offerer, at: session.network.now)
        session.offerer.setRemote(session.answerer, candidates: candidates, at: session.network.now)
        let start = session.network.now
        guard session.connect() else { return nil }
        session.network.run(.seconds(2))
        guard session.offerer.selections.count == 1, let route = session.offerer.selections.first,
            let at = session.offerer.time(of: .selected(route))
        else { return nil }
        return ("\(route.remote)", at - start)
    }

    /// Round trips in ms, and which of the three wins.
    @Test(arguments: [
        ([150, 100, 20], 2), ([20, 100, 150], 0), ([100, 20, 150], 1), ([90, 95, 240], 0), ([240, 95, 94], 1),
        ([300, 300, 200], 2), ([1, 1, 1], 0),
    ])
    func ofSeveralProvidersTheOneWithTheShortestRoundTripIsNominated(roundTrips: [Int64], winner: Int) {
        for isLite in [true, false] {
            let choice = nominate(roundTrips, isLite: isLite)
            #expect(choice?.address == "203.0.113.\(winner + 1):3478", "lite: \(isLite)")
        }
    }

    @Test func aSinglePathIsNominatedWithTheFirstAnswer() {
        #expect(nominate([100], isLite: true)?.after == .milliseconds(200))
    }

    @Test func aCheckThatCouldStillWinIsWaitedForNoLongerThanItCould() throws {
        // The second was sent 5 ms after the first and answers after 100 ms; the first, of equal priority but formed before, would
        // have to be faster by 10 ms or a fifth to win, which it no longer can.
        let choice = try #require(nominate([900, 100], isLite: true))
        #expect(choice.address == "203.0.113.2:3478")
        #expect(choice.after == .milliseconds(5 + 100 + 100))
    }

    @Test func aHigherPriorityWinsAmongEqualRoundTripsEvenWhereItAnswersLater() {
        let session = ICESession(
            seed: 1, answererIsLite: true, answererAddresses: ["203.0.113.1:1", "203.0.113.2:2"])
        session.network.linkBetween = { from, to in
            let first = SocketAddress("203.0.113.1:1").ip
            return VirtualNetwork.Link(delay: .milliseconds(from == first || to == first ? 29 : 25))
        }
        session.signal()
        #expect(session.connect())
        #expect(session.offerer.selections.map(\.remote) == [SocketAddress("203.0.113.1:1")])
    }

    @Test func aDeadPathOfHigherPriorityDelaysTheNominationByLittle() throws {
        let session = ICESession(
            seed: 1, answererIsLite: true, answererAddresses: ["203.0.113.1:1", "203.0.113.2:2"])
        session.network.linkBetween = { from, to in
            VirtualNetwork.Link(delay: .zero, isBlocked: to == SocketAddress("203.0.113.1:1").ip)
        }
        let start = session.network.now
        session.signal()
        #expect(session.connect())
        #expect(session.network.now - start <= .milliseconds(11))
    }

    @Test func aNominationThatIsNeverAnsweredGoesToTheNextPair() {
        let network = VirtualNetwork(seed: 1)
        let node = ICENode(isControlling: true, seed: 1, addresses: ["192.0.2.1:5000"], at: network.now)
        network.add(node)
        let password = "peerpeerpeerpeerpeerpeer"
        let hosts = [SocketAddress("203.0.113.1:1"), SocketAddress("203.0.113.2:2")]
        network.addStub(at: hosts[0]) { bytes, source in
            // Answers checks but no nomination.
            let nominates = bytes.withUnsafeBytes { (try? STUNMessage(parsing: $0))?.usesCandidate ?? false }
            return nominates ? nil : liteAnswer(bytes, from: source, password: password)
        }
        network.addStub(at: hosts[1]) { liteAnswer($0, from: $1, password: password) }
        node.agent.setRemote(
            ICECredentials(fragment: "peer", password: password), isLite: true,
            candidates: hosts.map { .host("\($0)") }, at: network.now)
        network.run(.seconds(29))
        #expect(node.selections.map(\.remote) == [hosts[1]])
        #expect(node.failure == nil)
    }

    // MARK: Controlled

    private let peer = ICECredentials(fragment: "peer", password: "peerpeerpeerpeerpeerpeer")
    private let hosts = ["203.0.113.1:1", "203.0.113.2:2"]

    /// A controlled agent, and a peer whose two hosts answer checks.
    private func controlled() -> (network: VirtualNetwork, node: ICENode) {
        let network = VirtualNetwork(seed: 1)
        let node = ICENode(isControlling: false, seed: 1, addresses: ["192.0.2.1:5000"], at: network.now)
        network.add(node)
        let password = peer.password
        for host in hosts.map({ SocketAddress($0) }) {
            network.addStub(at: host) { liteAnswer($0, from: $1, password: password) }
        }
        node.agent.setRemote(
            peer, isLite: false,
            candidates: [.host(hosts[0], priority: 2_000_000_000), .host(hosts[1], priority: 1_000_000_000)],
            at: network.now)
        return (network, node)
    }

    private func check(_ network: VirtualNetwork, _ node: ICENode, from host: Int, nominates: Bool) {
        let id = STUNTransactionID(high: UInt64(network.now.nanoseconds), low: UInt32(host))
        let bytes = stunMessage(.request, id, password: node.credentials.password) { writer in
            writer.username(Array("\(node.credentials.fragment):\(peer.fragment)".utf8))
            writer.role(.controlling(tieBreaker: 1))
            writer.priority(1_000_000)
            if nominates { writer.useCandidate() }
        }
        network.send(bytes, from: SocketAddress(hosts[host]), to: SocketAddress("192.0.2.1:5000"))
        network.run(.milliseconds(100))
    }

    @Test func withoutANominationNothingIsSelectedAndTheEndSaysSo() {
        let (network, node) = controlled()
        check(network, node, from: 0, nominates: false)
        network.run(.seconds(20))
        #expect(node.selections.isEmpty)
        network.run(.seconds(20))
        #expect(node.failure == .notNominated)
    }

    @Test func aNominationOfAPairThatIsNotValidYetIsRemembered() {
        var isMute = true
        let network = VirtualNetwork(seed: 1)
        let node = ICENode(isControlling: false, seed: 1, addresses: ["192.0.2.1:5000"], at: network.now)
        network.add(node)
        let password = peer.password
        network.addStub(at: SocketAddress(hosts[0])) { bytes, source in
            isMute ? nil : liteAnswer(bytes, from: source, password: password)
        }
        node.agent.setRemote(peer, isLite: false, candidates: [], at: network.now)
        check(network, node, from: 0, nominates: true)
        network.run(.seconds(1))
        #expect(node.selections.isEmpty)
        isMute = false
        network.run(.seconds(2))
        #expect(node.selections.map(\.remote) == [SocketAddress(hosts[0])])
    }

    @Test func aRegularPeerMayNominateAnotherPairLater() {
        let (network, node) = controlled()
        check(network, node, from: 0, nominates: false)
        check(network, node, from: 0, nominates: true)
        check(network, node, from: 1, nominates: true)
        #expect(node.selections.map { "\($0.remote)" } == hosts)
        check(network, node, from: 0, nominates: true)
        #expect(node.agent.selectedRoute?.remote == SocketAddress(hosts[0]))
    }

    @Test func ofAPeerThatNominatesEverythingTheBestPairIsTaken() {
        let (network, node) = controlled()
        check(network, node, from: 1, nominates: true)
        check(network, node, from: 0, nominates: true)
        check(network, node, from: 1, nominates: true)
        #expect(node.selections.map { "\($0.remote)" } == [hosts[1], hosts[0]])
    }
}
