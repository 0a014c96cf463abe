import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ICEAgentResponsesTests {
    private let peer = ICECredentials(fragment: "peer", password: "peerpeerpeerpeerpeerpeer")
    private let route = ICESession.toAnswerer
    private let now = Instant(nanoseconds: 1_000_000_000)

    /// An agent whose first check is on its way, and that check's transaction.
    private func checking(isControlling: Bool = true) throws -> (node: ICENode, transaction: STUNTransactionID) {
        let node = ICENode(isControlling: isControlling, seed: 1, addresses: ["192.0.2.1:5000"], at: now)
        node.agent.setRemote(peer, isLite: false, candidates: [.host("198.51.100.1:6000")], at: now)
        return (node, try #require(transactions(node).first))
    }

    private func transactions(_ node: ICENode) -> [STUNTransactionID] {
        node.takeTransmits().compactMap { transmit in
            transmit.bytes.withUnsafeBytes { raw in
                (try? STUNMessage(parsing: raw)).flatMap { $0.kind == .request ? $0.transaction : nil }
            }
        }
    }

    private func answer(
        _ node: ICENode, _ kind: STUNMessage.Kind, _ transaction: STUNTransactionID, password: String? = nil,
        from: Route? = nil, _ attributes: (inout STUNWriter) -> Void = { _ in }
    ) {
        let bytes = stunMessage(kind, transaction, password: password ?? peer.password, attributes)
        bytes.withUnsafeBytes { node.agent.receive($0, from: from ?? route, at: now + .milliseconds(30)) }
    }

    @Test func anAuthenticAnswerMakesThePathValid() throws {
        let (node, transaction) = try checking()
        answer(node, .success, transaction) { $0.xorMappedAddress(SocketAddress("192.0.2.1:5000")) }
        #expect(node.agent.accepts(route))
        #expect(node.agent.statistics.answersReceived == 1)
    }

    @Test func anAnswerWithoutTheRightPasswordIsNone() throws {
        let (node, transaction) = try checking()
        answer(node, .success, transaction, password: node.credentials.password)
        answer(node, .error, transaction, password: "guessed") { $0.errorCode(487, reason: "") }
        #expect(!node.agent.accepts(route))
        #expect(node.agent.statistics.notAuthentic == 2)
        #expect(node.agent.isControlling)
    }

    @Test func anAnswerToNothingIsCounted() throws {
        let (node, _) = try checking()
        answer(node, .success, STUNTransactionID(high: 9, low: 9))
        #expect(node.agent.statistics.unknownTransaction == 1)
    }

    @Test func anAnswerFromElsewhereFailsThePair() throws {
        let (node, transaction) = try checking()
        answer(node, .success, transaction, from: Route(path: route.path, remote: SocketAddress("198.51.100.1:6001")))
        #expect(!node.agent.accepts(route))
        #expect(node.agent.statistics.asymmetricAnswers == 1)
        node.agent.handleTimeout(at: now + .seconds(11))
        node.flush(at: now)
        #expect(node.failure == .refused)
    }

    @Test func refusalsOnAllPairsEndTheSessionAfterAWhile() throws {
        let (node, transaction) = try checking()
        answer(node, .error, transaction) { $0.errorCode(400, reason: "Bad Request") }
        #expect(node.agent.statistics.refusals == 1)
        #expect(node.agent.deadline?.at == now + .milliseconds(30) + .seconds(10))
        node.agent.handleTimeout(at: now + .seconds(9))
        node.flush(at: now)
        #expect(node.failure == nil)
        node.agent.handleTimeout(at: now + .milliseconds(10_030))
        node.flush(at: now)
        #expect(node.failure == .refused)
    }

    @Test(arguments: [true, false])
    func aRoleConflictChangesTheRoleAndRepeatsTheCheck(isControlling: Bool) throws {
        let (node, transaction) = try checking(isControlling: isControlling)
        answer(node, .error, transaction) { $0.errorCode(487, reason: "Role Conflict") }
        #expect(node.agent.isControlling == !isControlling)
        let next = try #require(transactions(node).first)
        #expect(next != transaction)
        // A second copy of the conflict, or a late one, changes nothing more.
        answer(node, .error, transaction) { $0.errorCode(487, reason: "Role Conflict") }
        #expect(node.agent.isControlling == !isControlling)
    }

    @Test func aLitePeerCannotTakeTheControllingRoleAway() {
        let node = ICENode(isControlling: false, seed: 1, addresses: ["192.0.2.1:5000"], at: now)
        node.agent.setRemote(peer, isLite: true, candidates: [.host("198.51.100.1:6000")], at: now)
        #expect(node.agent.isControlling)
        for transaction in transactions(node) {
            answer(node, .error, transaction) { $0.errorCode(487, reason: "Role Conflict") }
        }
        #expect(node.agent.isControlling)
    }

    @Test func theAnswerToACancelledCheckCounts() throws {
        let (node, transaction) = try checking(isControlling: false)
        // The peer's check makes ours start again (RFC 8445 7.3.1.4).
        let check = stunMessage(.request, STUNTransactionID(high: 1, low: 2), password: node.credentials.password) {
            $0.username(Array("\(node.credentials.fragment):\(peer.fragment)".utf8))
            $0.role(.controlling(tieBreaker: 1))
        }
        check.withUnsafeBytes { node.agent.receive($0, from: route, at: now + .milliseconds(10)) }
        #expect(transactions(node).count == 1)
        answer(node, .success, transaction)
        #expect(node.agent.accepts(route))
    }
}
