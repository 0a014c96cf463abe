import Testing

@testable import Support
@testable import VoiceCore

/// An allocation and a server with a perfect wire between them.
private final class Wire {
    let network = VirtualNetwork(seed: 1)
    let server = VirtualServer(SocketAddress(ip: .v4(0xC633_6401), port: 3478))
    let client = SocketAddress(ip: .v4(0xC000_0201), port: 5_000)
    let peer = SocketAddress(ip: .v4(0xCB00_7101), port: 6_000)
    var allocation: TURNAllocation
    var events: [TURNEvent] = []
    var fromPeer: [[UInt8]] = []
    var atPeer: [[UInt8]] = []
    private let scratch = Scratch()

    init(username: String = "talk", password: String = "secret") {
        allocation = TURNAllocation(
            username: username, password: password, isReliable: false, entropy: .seeded(1), at: network.now)
        network.add(server)
        network.addStub(at: client) { [unowned self] bytes, _ in
            bytes.withUnsafeBytes { raw in
                if case .datagram(let data, _) = allocation.receive(raw, at: network.now) {
                    fromPeer.append(Array(data))
                }
            }
            flush()
            return nil
        }
        network.addStub(at: peer) { [unowned self] bytes, from in
            atPeer.append(bytes)
            return bytes.reversed()
        }
        flush()
    }

    func flush() {
        while let byteCount = allocation.nextTransmit(into: scratch.bytes, at: network.now) {
            network.send(Array(scratch.bytes[..<byteCount]), from: client, to: server.address)
        }
        while let event = allocation.nextEvent() { events.append(event) }
    }

    func send(_ bytes: [UInt8]) {
        let byteCount = bytes.withUnsafeBytes {
            allocation.wrap($0, to: peer, into: scratch.bytes, at: network.now)
        }
        if let byteCount { network.send(Array(scratch.bytes[..<byteCount]), from: client, to: server.address) }
        flush()
    }

    func run(_ duration: Duration) {
        let end = network.now + duration
        while network.now < end {
            let next = min(end, max(allocation.deadline ?? end, network.now + .milliseconds(1)))
            network.run(next - network.now)
            allocation.handleTimeout(at: network.now)
            flush()
        }
    }
}

@Suite struct TURNAllocationTests {
    @Test(arguments: [false, true])
    func anAllocationIsGrantedInTwoRoundTrips(usesSHA256: Bool) {
        let wire = Wire()
        wire.server.usesSHA256 = usesSHA256
        wire.run(.milliseconds(41))
        #expect(wire.allocation.phase == .active)
        #expect(
            wire.events == [
                .allocated(
                    relayed: [SocketAddress(ip: wire.server.address.ip, port: 50_001)], mapped: wire.client)
            ])
    }

    @Test func bothFamiliesAreLentWhereTheServerHasThem() {
        let wire = Wire()
        wire.server.address6 = IPAddress("2001:db8::50")
        wire.run(.milliseconds(41))
        guard case .allocated(let relayed, _) = wire.events.first else {
            Issue.record("\(wire.events)")
            return
        }
        #expect(relayed.map(\.ip.isIPv6) == [false, true])
    }

    @Test func aServerThatTakesOffenceAtASecondFamilyLendsTheFirst() {
        let wire = Wire()
        wire.server.refusesFamilies = true
        wire.run(.milliseconds(61))
        #expect(wire.allocation.phase == .active)
        #expect(wire.server.requestCounts[TURNMethod.allocate] == 3)
    }

    @Test func whatIsSentWaitsForItsPermissionAndThenGoes() {
        let wire = Wire()
        wire.run(.milliseconds(50))
        wire.send([1, 2, 3])
        #expect(wire.server.requestCounts[TURNMethod.createPermission] == nil)
        wire.run(.milliseconds(100))
        #expect(wire.atPeer == [[1, 2, 3]])
        #expect(wire.fromPeer == [[3, 2, 1]])
    }

    @Test func aChannelCarriesWithoutIndications() {
        let wire = Wire()
        wire.run(.milliseconds(50))
        wire.send([1])
        wire.run(.milliseconds(100))
        wire.allocation.bindChannel(to: wire.peer, at: wire.network.now)
        wire.flush()
        wire.run(.milliseconds(100))
        let before = wire.server.indicationCount
        wire.send([4, 5, 6, 7, 8])
        wire.run(.milliseconds(100))
        #expect(wire.atPeer.last == [4, 5, 6, 7, 8])
        #expect(wire.fromPeer.last == [8, 7, 6, 5, 4])
        #expect(wire.server.indicationCount == before)
        #expect(wire.server.channelDataCount == 2)
    }

    @Test(arguments: [Duration.seconds(3600), .seconds(60)])
    func anHourLaterItStillCarries(nonceLifetime: Duration) {
        let wire = Wire()
        wire.server.nonceLifetime = nonceLifetime
        wire.run(.milliseconds(50))
        wire.send([1])
        wire.run(.milliseconds(100))
        wire.allocation.bindChannel(to: wire.peer, at: wire.network.now)
        wire.flush()
        wire.run(.seconds(3600))
        wire.send([9])
        wire.run(.milliseconds(100))
        #expect(wire.atPeer.last == [9])
        #expect(wire.fromPeer.last == [9])
        #expect(wire.events.count == 1)
    }

    @Test func itLivesThoughOneInThreeMessagesIsLost() {
        let wire = Wire()
        wire.network.link.loss = 0.33
        wire.run(.seconds(10))
        wire.send([1])
        wire.run(.seconds(3600))
        wire.network.link.loss = 0
        wire.run(.seconds(20))
        wire.send([7])
        wire.run(.milliseconds(200))
        wire.send([8])
        wire.run(.milliseconds(200))
        #expect(wire.atPeer.last == [8])
        #expect(wire.events.count == 1)
    }

    @Test func closingGivesTheAddressBack() {
        let wire = Wire()
        wire.run(.milliseconds(50))
        #expect(wire.server.allocations.count == 1)
        wire.allocation.close(at: wire.network.now)
        wire.flush()
        wire.run(.milliseconds(100))
        #expect(wire.server.allocations.isEmpty)
        #expect(wire.allocation.phase == .ended)
    }

    @Test(arguments: [
        (UInt16(300), TURNFailure.redirected), (437, .mismatch), (441, .unauthorized), (486, .quotaReached),
        (508, .noCapacity), (500, .refused(500)),
    ])
    func eachRefusalHasItsName(code: UInt16, failure: TURNFailure) {
        let wire = Wire()
        wire.server.refusal = code
        wire.run(.milliseconds(100))
        #expect(wire.events == [.failed(failure)])
        #expect(wire.allocation.deadline == nil)
    }

    @Test func aWrongPasswordIsNamed() {
        let wire = Wire(password: "wrong")
        wire.run(.milliseconds(100))
        #expect(wire.events == [.failed(.unauthorized)])
    }

    @Test func aDeadServerIsGivenUp() {
        let wire = Wire()
        wire.server.isDead = true
        wire.run(.seconds(20))
        #expect(wire.events == [.failed(.noAnswer)])
    }

    @Test func anAllocationThatTheServerForgotIsNamed() {
        let wire = Wire()
        wire.run(.milliseconds(50))
        wire.server.refusal = 437
        wire.run(.seconds(400))
        #expect(wire.events.last == .failed(.mismatch))
    }

    @Test func aSuccessThatNobodySignedChangesNothing() {
        let wire = Wire()
        wire.network.tamper = { bytes, from, _ in
            var bytes = bytes
            if from == wire.server.address, bytes.count > 40, bytes[0] == 1, bytes[1] == 3 { bytes[30] ^= 1 }
            return bytes
        }
        wire.run(.milliseconds(90))
        #expect(wire.events.isEmpty)
        #expect(wire.allocation.phase == .allocating)
    }
}
