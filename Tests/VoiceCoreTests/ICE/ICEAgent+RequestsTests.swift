import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ICEAgentRequestsTests {
    private let peer = ICECredentials(fragment: "peer/1", password: "peerpeerpeerpeerpeerpeer")
    private let route = Route(path: PathID(rawValue: 0), remote: SocketAddress("198.51.100.1:6000"))
    private let now = Instant(nanoseconds: 1_000_000_000)

    private func node(isControlling: Bool = false, withRemote: Bool = true) -> ICENode {
        let node = ICENode(isControlling: isControlling, seed: 1, addresses: ["192.0.2.1:5000"], at: now)
        if withRemote { node.agent.setRemote(peer, isLite: false, candidates: [], at: now) }
        return node
    }

    /// A check as the peer makes it for `node`, changed at will, and what is answered.
    private func check(
        _ node: ICENode, username: String? = nil, password: String? = nil, from route: Route? = nil,
        role: STUNMessage.Role? = nil, _ more: (inout STUNWriter) -> Void = { _ in }
    ) -> (kind: STUNMessage.Kind, code: UInt16?, mapped: SocketAddress?)? {
        let bytes = stunMessage(
            .request, STUNTransactionID(high: 1, low: 2), password: password ?? node.credentials.password
        ) { writer in
            writer.username(Array((username ?? "\(node.credentials.fragment):\(peer.fragment)").utf8))
            writer.role(
                role ?? (node.agent.isControlling ? .controlled(tieBreaker: 5) : .controlling(tieBreaker: 5)))
            writer.priority(1_000_000)
            more(&writer)
        }
        bytes.withUnsafeBytes { node.agent.receive($0, from: route ?? self.route, at: now) }
        return node.takeTransmits().lazy.compactMap { transmit in
            transmit.bytes.withUnsafeBytes { raw in
                guard let message = try? STUNMessage(parsing: raw), message.kind != .request,
                    message.isAuthentic(STUNKey(password: node.credentials.password))
                else { return nil }
                return (message.kind, message.errorCode, message.mappedAddress)
            }
        }.first
    }

    @Test func aGoodCheckIsAnsweredWithWhereItCameFrom() {
        let node = node()
        let reply = check(node)
        #expect(reply?.kind == .success)
        #expect(reply?.mapped == route.remote)
        #expect(node.agent.hasHeard(route))
        #expect(!node.agent.accepts(route))
    }

    struct Stranger: Sendable {
        var username: String?
        var password: String?
        var path: UInt16 = 0
        var counter: WritableKeyPath<ICEStatistics, UInt64> & Sendable

        static let all = [
            Stranger(username: "", counter: \.unknownUsername),
            Stranger(username: "nobody:peer/1", counter: \.unknownUsername),
            Stranger(username: "OURS", counter: \.unknownUsername),
            Stranger(username: "OURS:", counter: \.unknownUsername),
            Stranger(username: "OURS:peer/2", counter: \.unknownUsername),
            Stranger(username: "OURS:peer/11", counter: \.unknownUsername),
            Stranger(password: "wrong", counter: \.notAuthentic),
            Stranger(path: 7, counter: \.unknownPath),
        ]
    }

    @Test(arguments: Stranger.all)
    func aStrangerIsCountedByReasonAndGetsNoAnswer(stranger: Stranger) {
        let node = node()
        let username = stranger.username?.replacing("OURS", with: node.credentials.fragment)
        let from = Route(path: PathID(rawValue: stranger.path), remote: route.remote)
        #expect(check(node, username: username, password: stranger.password, from: from) == nil)
        #expect(node.agent.statistics[keyPath: stranger.counter] == 1)
        #expect(node.agent.statistics.requestsReceived == 0)
        #expect(!node.agent.hasHeard(route))
    }

    @Test func aCheckWithoutIntegrityIsNotAnswered() {
        let node = node()
        let bytes = stunMessage(.request, STUNTransactionID(high: 1, low: 2), password: nil) {
            $0.username(Array("\(node.credentials.fragment):\(peer.fragment)".utf8))
        }
        bytes.withUnsafeBytes { node.agent.receive($0, from: route, at: now) }
        #expect(node.takeTransmits().isEmpty)
        #expect(node.agent.statistics.notAuthentic == 1)
    }

    @Test func whatMustBeUnderstoodAndIsNotIsRefusedWith420() {
        let node = node()
        // REALM belongs to long-term credentials.
        let reply = check(node) { $0.attribute(0x0014, [1, 2, 3]) }
        #expect(reply?.kind == .error)
        #expect(reply?.code == 420)
        #expect(!node.agent.hasHeard(route))
    }

    @Test func anUnknownAttributeThatMayBeIgnoredIsIgnored() {
        #expect(check(node()) { $0.attribute(0xC057, [1, 2, 3, 4]) }?.kind == .success)
    }

    /// RFC 8445 7.3.1.1: who has the larger tie-breaker, or an equal one, keeps or gets the controlling role.
    @Test(arguments: [(true, false), (true, true), (false, false), (false, true)])
    func aRoleConflictIsSettledByTheTieBreaker(isControlling: Bool, theirsIsLarger: Bool) {
        let node = node(isControlling: isControlling)
        let ours = node.agent.tieBreaker
        let theirs = theirsIsLarger ? ours + 1 : ours
        let reply = check(
            node, role: isControlling ? .controlling(tieBreaker: theirs) : .controlled(tieBreaker: theirs))
        // The larger one ends as controlling; who keeps its role tells the other to change by 487.
        #expect(node.agent.isControlling == !theirsIsLarger)
        let keepsRole = node.agent.isControlling == isControlling
        #expect(reply?.code == (keepsRole ? 487 : nil))
        #expect(reply?.kind == (keepsRole ? .error : .success))
        #expect(node.agent.statistics.roleConflicts == 1)
    }

    @Test func anEarlyCheckIsAnsweredAndFollowedUpWhenTheAnswerComes() {
        let session = ICESession(seed: 3)
        session.signal(answerAfter: .milliseconds(200))
        // The answerer's check went out at once, and was answered before the offerer knew of it.
        #expect(session.answerer.agent.accepts(ICESession.toOfferer))
        #expect(!session.offerer.agent.accepts(ICESession.toAnswerer))
        #expect(session.offerer.agent.hasHeard(ICESession.toAnswerer))
        let start = session.network.now
        #expect(session.connect())
        #expect(session.offerer.time(of: .selected(ICESession.toAnswerer)) == start + .milliseconds(40))
    }

    @Test func aPeerWithoutCandidatesIsFoundByItsEarlyChecks() {
        let session = ICESession(seed: 4)
        session.answerer.setRemote(session.offerer, at: session.network.now)
        session.network.run(.milliseconds(300))
        session.offerer.setRemote(session.answerer, candidates: [], at: session.network.now)
        #expect(session.connect(within: .seconds(1)))
    }

    @Test func anEarlyCheckOfAnotherSessionIsNotFollowedUp() {
        let node = node(withRemote: false)
        #expect(check(node, username: "\(node.credentials.fragment):other")?.kind == .success)
        node.agent.setRemote(peer, isLite: false, candidates: [], at: now)
        #expect(node.takeTransmits().isEmpty)
        #expect(!node.agent.hasHeard(route))
    }

    @Test func aFloodOfChecksIsAnsweredButGrowsNothing() {
        for withRemote in [false, true] {
            let node = node(withRemote: withRemote)
            for port in UInt16(1)...1000 {
                let from = Route(path: PathID(rawValue: 0), remote: SocketAddress(ip: route.remote.ip, port: port))
                #expect(check(node, from: from)?.kind == .success)
            }
            #expect(node.agent.checklist.pairs.count <= Checklist.pairLimit)
            #expect(node.agent.earlyChecks.count <= 16)
            #expect(node.agent.statistics.overLimit > 800)
            #expect(node.agent.statistics.requestsReceived == 1000)
        }
    }

    @Test func aFloodThatIsNotDrainedLeavesRoomForOurOwnChecks() {
        let node = node()
        let bytes = stunMessage(.request, STUNTransactionID(high: 1, low: 2), password: node.credentials.password) {
            $0.username(Array("\(node.credentials.fragment):\(peer.fragment)".utf8))
            $0.role(.controlling(tieBreaker: 1))
        }
        for _ in 0..<1000 { bytes.withUnsafeBytes { node.agent.receive($0, from: route, at: now) } }
        let transmits = node.takeTransmits()
        #expect(transmits.count < 64)
        #expect(node.agent.statistics.notSent > 900)
        node.agent.handleTimeout(at: now + .milliseconds(5))
        #expect(!node.takeTransmits().isEmpty)
    }
}
