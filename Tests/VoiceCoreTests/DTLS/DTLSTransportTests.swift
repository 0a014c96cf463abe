import COpenSSL
import Testing

@testable import Support
@testable import VoiceCore

@Suite struct DTLSTransportTests {
    enum Key: CaseIterable {
        case p256
        case rsa2048
        case rsa4096

        func identity() throws -> DTLSIdentity {
            switch self {
            case .p256: try TestIdentity.p256.get()
            case .rsa2048: try TestIdentity.rsa2048.get()
            case .rsa4096: try TestIdentity.rsa4096.get()
            }
        }
    }

    @Test(arguments: Key.allCases, Key.allCases)
    func bothRolesConnectWithEachKindOfKey(client: Key, server: Key) throws {
        let pair = try DTLSPair(client: client.identity(), server: server.identity())
        let start = pair.now
        pair.start()
        pair.run(for: .seconds(10)) { pair.areSettled }
        #expect(pair.areConnected)
        #expect(pair.now - start < .milliseconds(20), "two round trips of 2 ms, nothing sent twice")
        #expect(pair.longestDatagram <= DTLSTransport.largestDatagram)
        #expect(pair.client.deadline == nil)
        #expect(pair.server.deadline != nil, "its last flight may have been lost")
    }

    @Test func aServerRepeatsItsLastFlightByItself() throws {
        let pair = try makePair()
        var lost = 0
        // The client's own repetitions get lost, and twice what the server says last.
        pair.onTheWay = { [unowned pair] to, bytes, _ in
            guard pair.server.phase == .connected else { return [bytes] }
            guard to == .client, lost >= 2 else {
                if to == .client { lost += 1 }
                return []
            }
            return [bytes]
        }
        let start = pair.now
        pair.start()
        pair.run(for: .seconds(10)) { pair.areConnected }
        #expect(pair.areConnected)
        #expect(pair.now - start < .milliseconds(350))
    }

    @Test func theLastFlightIsRepeatedUntilTheClientIsHeardOrFiveTimes() throws {
        for speaks in [false, true] {
            let pair = try makePair()
            pair.start()
            pair.run(for: .seconds(10)) { pair.areConnected }
            let count = pair.datagramCount
            if speaks { try Array("up".utf8).withUnsafeBytes { try pair.client.send(applicationData: $0) } }
            pair.run(for: .seconds(20)) { false }
            #expect(pair.datagramCount - count == (speaks ? 1 : 5))
            #expect(pair.server.deadline == nil)
            #expect(pair.areConnected)
        }
    }

    @Test func keysAgreeCrosswise() throws {
        let pair = try connectedPair()
        let client = try pair.clientKeys()
        let server = try pair.serverKeys()
        #expect(client.profile == .aeadAES128GCM)
        #expect(client.local == server.remote)
        #expect(client.remote == server.local)
        #expect(client.local != client.remote)
        #expect(client.local.count == 28)
    }

    @Test(arguments: [DTLSPair.Side.client, .server])
    func aPeerWithOnlyTheOlderProfileGetsIt(side: DTLSPair.Side) throws {
        let pair = try makePair()
        SSL_set_tlsext_use_srtp(pair.ssl(of: side), "SRTP_AES128_CM_SHA1_80")
        pair.shakeHands()
        let keys = try pair.clientKeys()
        #expect(keys.profile == .aes128CMSHA1_80)
        #expect(keys.local.count == 30)
        #expect(try keys.local == pair.serverKeys().remote)
    }

    @Test func aPeerWithoutAProfileOfOursGivesNoKeys() throws {
        let pair = try makePair()
        SSL_set_tlsext_use_srtp(pair.ssl(of: .client), "SRTP_AEAD_AES_256_GCM")
        pair.shakeHands()
        #expect(pair.areConnected)
        #expect(throws: DTLSError.noSRTPProfile) { try pair.serverKeys() }
    }

    @Test(arguments: Fingerprint.Algorithm.allCases)
    func theFingerprintDecides(algorithm: Fingerprint.Algorithm) throws {
        let (own, other) = (try DTLSIdentity(), try DTLSIdentity())
        let pair = try DTLSPair(client: own, server: TestIdentity.p256.get())
        let right = own.fingerprint(algorithm)
        let wrong = other.fingerprint(algorithm)
        #expect(!pair.serverAccepts([right]), "before the handshake")
        pair.shakeHands()
        #expect(pair.serverAccepts([right]))
        #expect(pair.serverAccepts([wrong, right]))
        #expect(!pair.serverAccepts([wrong]))
        #expect(!pair.serverAccepts([]))
        #expect(!pair.serverAccepts([Fingerprint(algorithm: algorithm, digest: [])]))
        #expect(!pair.serverAccepts([Fingerprint(algorithm: algorithm, digest: Array(right.digest.dropLast()))]))
        var flipped = right
        flipped.digest[0] ^= 1
        #expect(!pair.serverAccepts([flipped]))
    }

    @Test(arguments: Key.allCases, [0.0, 0.1, 0.25, 0.4])
    func aBadLinkIsOvercomeOrReportedInTime(key: Key, loss: Double) throws {
        for seed in UInt64(1)...10 {
            let link = DTLSPair.Link(loss: loss, duplication: 0.1, delay: 5...60)
            let swapped = seed % 2 == 0
            let (client, server) = swapped ? (Key.p256, key) : (key, Key.p256)
            let pair = try DTLSPair(client: client.identity(), server: server.identity(), link: link, seed: seed)
            let start = pair.now
            pair.start()
            pair.run(for: .seconds(60)) { pair.areSettled }
            #expect(pair.areSettled, "seed \(seed)")
            #expect(pair.now - start <= DTLSTransport.handshakeLimit)
            #expect(pair.longestDatagram <= DTLSTransport.largestDatagram)
            if loss <= 0.25 {
                #expect(pair.areConnected, "seed \(seed): \(pair.client.phase), \(pair.server.phase)")
                #expect(pair.now - start <= .seconds(loss <= 0.1 ? 3 : 15))
            }
            if pair.areConnected { #expect(try pair.clientKeys().local == pair.serverKeys().remote) }
        }
    }

    @Test func silenceEndsTheHandshakeAfterDoublingWaits() throws {
        let pair = try DTLSPair(
            client: TestIdentity.p256.get(), server: TestIdentity.p256.get(), link: DTLSPair.Link(loss: 1))
        var sentAt: [Instant] = []
        pair.onTheWay = { [unowned pair] _, bytes, _ in
            sentAt.append(pair.now)
            return [bytes]
        }
        let start = pair.now
        pair.start()
        pair.run(for: .seconds(60)) { pair.client.phase != .handshaking }
        #expect(pair.client.phase == .failed(.timedOut))
        #expect(pair.client.deadline == nil)
        let seconds = sentAt.map { ($0 - start).inSeconds }
        #expect(seconds.prefix(7) == [0, 0.1, 0.3, 0.7, 1.5, 3.1, 6.1])
        #expect((pair.now - start).inSeconds == 27.1)
    }

    @Test func aServerWhoseClientNeverComesEnds() throws {
        let pair = try makePair()
        #expect(pair.server.deadline == nil, "not started")
        pair.server.start(at: pair.now)
        let start = pair.now
        pair.run(for: .seconds(60)) { pair.server.phase != .handshaking }
        #expect(pair.server.phase == .failed(.timedOut))
        #expect(pair.now - start == DTLSTransport.handshakeLimit)
    }

    @Test func aWallClockSetBackOnlyDelaysTheEnd() throws {
        var client = try DTLSTransport(role: .client, identity: TestIdentity.p256.get())
        let start = Instant(nanoseconds: 1_000_000_000_000)
        OpenSSLClock.set(to: start)
        defer { OpenSSLClock.release() }
        client.start(at: start)
        OpenSSLClock.set(to: start - .seconds(900))
        var turns = 0
        while let deadline = client.deadline, turns < 100 {
            client.handleTimeout(at: deadline)
            turns += 1
        }
        #expect(client.phase == .failed(.timedOut))
        #expect(turns < 20, "and nobody spins")
    }

    @Test func messagesCrossBothWays() throws {
        let pair = try connectedPair()
        try pair.client.send([1, 2, 3])
        try pair.client.send([4])
        try pair.server.send([UInt8](repeating: 5, count: pair.server.largestApplicationMessage))
        pair.run(for: .milliseconds(10)) { false }
        #expect(pair.applicationData(at: .server) == [[1, 2, 3], [4]])
        #expect(pair.applicationData(at: .client).map(\.count) == [pair.server.largestApplicationMessage])
        #expect(pair.longestDatagram <= DTLSTransport.largestDatagram)
        #expect(pair.server.largestApplicationMessage > 1_150)
    }

    @Test func aMessageThatFitsNoDatagramIsRefused() throws {
        let pair = try connectedPair()
        let limit = pair.client.largestApplicationMessage
        #expect(throws: DTLSError.messageTooLong(limit: limit)) {
            try pair.client.send([UInt8](repeating: 0, count: limit + 1))
        }
        #expect(pair.client.phase == .connected)
    }

    @Test func messagesNobodyFetchesAreDroppedAndCounted() throws {
        let pair = try connectedPair()
        for _ in 0..<200 {
            try pair.client.send([UInt8](repeating: 9, count: 1_000))
            pair.run(for: .milliseconds(2)) { false }
        }
        let kept = pair.applicationData(at: .server).count
        #expect(kept > 40)
        #expect(kept + pair.server.statistics.overflows == 200)
        #expect(pair.server.phase == .connected)
        try pair.client.send([7])
        pair.run(for: .milliseconds(2)) { false }
        #expect(pair.applicationData(at: .server) == [[7]])
    }

    @Test func nothingIsSentBeforeTheAssociationIsThere() throws {
        let pair = try makePair()
        #expect(throws: DTLSError.notConnected) { try pair.client.send([1]) }
        #expect(throws: DTLSError.notConnected) { try pair.clientKeys() }
    }

    @Test(arguments: [DTLSPair.Side.client, .server])
    func goodbyeIsSeenByTheOtherSide(side: DTLSPair.Side) throws {
        let pair = try connectedPair()
        if side == .client { pair.client.close() } else { pair.server.close() }
        pair.run(for: .milliseconds(10)) { false }
        #expect(pair.client.phase == .closed(byPeer: side == .server))
        #expect(pair.server.phase == .closed(byPeer: side == .client))
        #expect(throws: DTLSError.notConnected) { try pair.client.send([1]) }
    }

    @Test func closingInMidHandshakeIsQuiet() throws {
        let pair = try makePair()
        pair.start()
        pair.client.close()
        pair.client.close()
        #expect(pair.client.phase == .closed(byPeer: false))
        pair.client.handleTimeout(at: pair.now + .seconds(99))
        #expect(pair.client.phase == .closed(byPeer: false))
    }

    @Test func aClientWithoutCertificateIsRefused() throws {
        let pair = try makePair()
        SSL_certs_clear(pair.ssl(of: .client))
        pair.shakeHands()
        #expect(pair.server.phase == .failed(.peerWithoutCertificate))
        guard case .failed(.alertReceived) = pair.client.phase else {
            Issue.record("the client was not told: \(pair.client.phase)")
            return
        }
    }

    @Test(arguments: [DTLSPair.Side.client, .server])
    func dtls10IsRefused(old: DTLSPair.Side) throws {
        let pair = try makePair()
        let ssl = pair.ssl(of: old)
        SSL_set_cipher_list(ssl, "ALL:@SECLEVEL=0")
        for control in [SSL_CTRL_SET_MIN_PROTO_VERSION, SSL_CTRL_SET_MAX_PROTO_VERSION] {
            SSL_ctrl(ssl, control, Int(DTLS1_VERSION), nil)
        }
        pair.shakeHands()
        if old == .client {
            #expect(pair.server.phase == .failed(.unsupportedVersion))
            #expect(pair.client.phase == .failed(.alertReceived(code: 70, text: "protocol version")))
        } else {
            // It finds none of its suites in our ClientHello.
            #expect(pair.client.phase == .failed(.alertReceived(code: 40, text: "handshake failure")))
        }
    }

    private func makePair() throws -> DTLSPair {
        try DTLSPair(client: TestIdentity.p256.get(), server: TestIdentity.p256.get())
    }

    private func connectedPair() throws -> DTLSPair {
        let pair = try makePair()
        pair.shakeHands()
        try #require(pair.areConnected)
        return pair
    }
}

extension DTLSTransport {
    fileprivate mutating func send(_ message: [UInt8]) throws(DTLSError) {
        // withUnsafeBytes rethrows untyped; the error is taken out by hand.
        let result: Result<Void, DTLSError> = message.withUnsafeBytes { bytes in
            do throws(DTLSError) {
                return .success(try send(applicationData: bytes))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }
}
