import Testing

@testable import Support
@testable import VoiceCore

/// What the network and anyone who can reach our port may do to a handshake.
@Suite struct DTLSHostileTests {
    enum Arrangement: CaseIterable {
        case inOrder
        case reversed
        case shuffled
        case shuffledAndDoubled
    }

    @Test(arguments: [1, 50, 100], Arrangement.allCases)
    func aClientHelloInPiecesIsPutTogether(pieceLength: Int, arrangement: Arrangement) throws {
        let pair = try makePair()
        var sequenceNumber = 0
        var pieceCount = 0
        pair.onTheWay = { side, bytes, entropy in
            guard side == .server, let kind = bytes.dropFirst(13).first, kind == 1, bytes[0] == 22 else {
                return [renumbered(bytes, from: &sequenceNumber)]
            }
            var pieces = fragments(of: bytes, length: pieceLength)
            pieceCount = pieces.count
            switch arrangement {
            case .inOrder: break
            case .reversed: pieces.reverse()
            case .shuffled: pieces.shuffle(using: &entropy)
            case .shuffledAndDoubled: pieces = (pieces + pieces).shuffled(using: &entropy)
            }
            return pieces.map { renumbered($0, from: &sequenceNumber) }
        }
        let start = pair.now
        pair.start()
        pair.run(for: .seconds(10)) { pair.areSettled }
        #expect(pair.areConnected)
        #expect(pair.now - start < .milliseconds(20), "without a retransmission")
        #expect(pieceCount > 1)
    }

    /// Each honest datagram is preceded by what an outsider can send without knowing what will be in it.
    @Test(arguments: UInt64(1)...20)
    func rubbishDoesNotEndAHandshake(seed: UInt64) throws {
        let link = DTLSPair.Link(loss: 0.1, duplication: 0.1, delay: 1...20)
        let pair = try DTLSPair(
            client: TestIdentity.rsa2048.get(), server: TestIdentity.p256.get(), link: link, seed: seed)
        pair.onTheWay = { _, bytes, entropy in
            var datagrams: [[UInt8]] = []
            for _ in 0..<3 { datagrams.append(rubbish(around: bytes, &entropy)) }
            datagrams.append(bytes)
            return datagrams
        }
        pair.shakeHands()
        #expect(pair.areConnected, "\(pair.client.phase), \(pair.server.phase)")
        #expect(pair.client.statistics.malformedRecords + pair.server.statistics.malformedRecords > 0)
    }

    @Test func aForgedAlertIsForgottenWhenTheHandshakeGoesOn() throws {
        let pair = try makePair()
        pair.start()
        pair.deliver(alert(level: 2, code: 40), to: .client)
        pair.run(for: .seconds(10)) { pair.areSettled }
        #expect(pair.areConnected)
    }

    @Test func aPlaintextAlertIsBelievedWhenNothingElseComes() throws {
        let pair = try DTLSPair(
            client: TestIdentity.p256.get(), server: TestIdentity.p256.get(), link: DTLSPair.Link(loss: 1))
        let start = pair.now
        pair.start()
        pair.deliver(alert(level: 2, code: 40), to: .client)
        pair.run(for: .seconds(10)) { pair.client.phase != .handshaking }
        #expect(pair.client.phase == .failed(.alertReceived(code: 40, text: "handshake failure")))
        #expect(pair.now - start == DTLSTransport.suspicionLimit)
    }

    @Test func anAlertBeforeTheClientHelloMeansNothing() throws {
        let pair = try makePair()
        pair.server.start(at: pair.now)
        pair.deliver(alert(level: 2, code: 40), to: .server)
        pair.run(for: .seconds(5)) { false }
        #expect(pair.server.phase == .handshaking)
        #expect(pair.server.statistics.unauthenticatedAlerts == 1)
    }

    @Test func rubbishDoesNotEndAnAssociation() throws {
        let pair = try makePair()
        var seen: [[UInt8]] = []
        pair.onTheWay = { _, bytes, _ in
            seen.append(bytes)
            return [bytes]
        }
        pair.shakeHands()
        var entropy = Entropy.seeded(3)
        for _ in 0..<3_000 {
            guard let genuine = seen.randomElement(using: &entropy) else { break }
            let side: DTLSPair.Side = Bool.random(using: &entropy) ? .client : .server
            pair.deliver(mutated(genuine, &entropy), to: side)
            pair.deliver(rubbish(around: genuine, &entropy), to: side)
            pair.deliver(genuine, to: side)
            _ = pair.take(from: .client) + pair.take(from: .server)
        }
        #expect(pair.areConnected)
        #expect(pair.applicationData(at: .client).isEmpty)
        #expect(pair.applicationData(at: .server).isEmpty)
        pair.client.close()
        pair.run(for: .milliseconds(10)) { false }
        #expect(pair.server.phase == .closed(byPeer: true))
    }

    /// A changed handshake message may well spoil a handshake; it must do no worse.
    @Test func noMutationTrapsOrHangs() throws {
        var ended = 0
        for seed in UInt64(1)...150 {
            let pair = try DTLSPair(
                client: TestIdentity.p256.get(), server: TestIdentity.p256.get(), seed: seed)
            pair.onTheWay = { _, bytes, entropy in
                Int.random(in: 0..<4, using: &entropy) == 0 ? [mutated(bytes, &entropy), bytes] : [bytes]
            }
            let start = pair.now
            pair.start()
            pair.run(for: .seconds(60)) { pair.areSettled }
            #expect(pair.areSettled)
            #expect(pair.now - start <= DTLSTransport.handshakeLimit + .seconds(1))
            #expect(pair.longestDatagram <= DTLSTransport.largestDatagram)
            ended += pair.areConnected ? 0 : 1
        }
        #expect(ended > 0, "the mutations reach OpenSSL")
    }

    @Test func datagramsAfterTheEndAreCounted() throws {
        let pair = try makePair()
        pair.client.close()
        pair.deliver([22], to: .client)
        pair.deliver([], to: .client)
        #expect(pair.client.statistics.lateDatagrams == 2)
        #expect(pair.take(from: .client).isEmpty)
    }

    private func makePair() throws -> DTLSPair {
        try DTLSPair(client: TestIdentity.p256.get(), server: TestIdentity.p256.get())
    }
}

private func record(kind: UInt8, version: [UInt8] = [0xFE, 0xFD], epoch: UInt8 = 0, _ body: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [kind]
    bytes += version
    bytes += [0, epoch, 0, 0, 0, 0, 0, 0] as [UInt8]
    bytes += bigEndian(body.count)
    bytes += body
    return bytes
}

/// Two bytes.
private func bigEndian(_ number: Int) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
}

private func alert(level: UInt8, code: UInt8) -> [UInt8] {
    record(kind: 21, [level, code])
}

/// What an honest peer never sends, or what only keys could make true.
private func rubbish(around bytes: [UInt8], _ entropy: inout Entropy) -> [UInt8] {
    let noise = entropy.bytes(Int.random(in: 0...200, using: &entropy))
    switch Int.random(in: 0..<10, using: &entropy) {
    case 0: return noise
    case 1: return alert(level: 2, code: UInt8.random(in: 0...120, using: &entropy))
    case 2: return alert(level: 1, code: 0)
    case 3: return record(kind: UInt8.random(in: 20...23, using: &entropy), epoch: 1, noise)
    case 4: return record(kind: 23, noise)
    case 5: return record(kind: UInt8.random(in: 24...63, using: &entropy), noise)
    case 6: return record(kind: 22, version: [3, 3], noise)
    case 7: return record(kind: 20, noise + [0])
    // A handshake message longer than any, and one whose fragment reaches past its end.
    case 8: return record(kind: 22, [11, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 7])
    default: return Array(bytes.prefix(Int.random(in: 0..<13, using: &entropy)))
    }
}

private func mutated(_ bytes: [UInt8], _ entropy: inout Entropy) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...4, using: &entropy) {
        guard !bytes.isEmpty else { break }
        let index = Int.random(in: 0..<bytes.count, using: &entropy)
        switch Int.random(in: 0..<4, using: &entropy) {
        case 0: bytes[index] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &entropy)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &entropy)
        case 2: bytes.remove(at: index)
        default: bytes.removeLast(min(bytes.count, Int.random(in: 1...20, using: &entropy)))
        }
    }
    return bytes
}

/// The one handshake message of a datagram in several, each of them in a record and datagram of its own.
private func fragments(of datagram: [UInt8], length: Int) -> [[UInt8]] {
    let header = Array(datagram[13..<25])
    let body = Array(datagram[25...])
    return stride(from: 0, to: body.count, by: length).map { (offset: Int) -> [UInt8] in
        let piece = Array(body[offset..<min(offset + length, body.count)])
        var fragment = Array(header[..<6])
        for number in [offset, piece.count] {
            fragment.append(0)
            fragment += bigEndian(number)
        }
        return record(kind: 22, fragment + piece)
    }
}

/// The datagram with its plaintext records numbered anew, so that those in pieces and those after them are told apart.
private func renumbered(_ datagram: [UInt8], from next: inout Int) -> [UInt8] {
    var bytes = datagram
    var offset = 0
    while offset + 13 <= bytes.count {
        if bytes[offset + 3] == 0, bytes[offset + 4] == 0 {
            bytes.replaceSubrange(offset + 9..<offset + 11, with: bigEndian(next))
            next += 1
        }
        let length = Int(bytes[offset + 11]) * 256 + Int(bytes[offset + 12])
        offset += 13 + length
    }
    return bytes
}
