import Testing

@testable import Support
@testable import VoiceCore

@Suite struct SRTPTransportTests {
    /// The packets of libsrtp's own known-answer tests (test/srtp_driver.c); their session keys are those of RFC 3711 B.3 for AES-CM.
    /// RFC 7714 16 gives session keys only, which libsrtp's interface does not take.
    struct Vector: Sendable {
        var profile: SRTPKeys.Profile
        var key: String
        var protectedRTP: String
        var protectedRTCP: String
    }

    static let rtp = "800f1234decafbadcafebabe" + String(repeating: "ab", count: 16)
    static let rtcp = "81c8000bcafebabe" + String(repeating: "ab", count: 16)
    static let vectors = [
        Vector(
            profile: .aes128CMSHA1_80,
            key: "e1f97a0d3e018be0d64fa32c06de4139" + "0ec675ad498afeebb6960b3aabe6",
            protectedRTP: "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb",
            protectedRTCP: "81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798"),
        Vector(
            profile: .aeadAES128GCM,
            key: "000102030405060708090a0b0c0d0e0f" + "a0a1a2a3a4a5a6a7a8a9aaab",
            protectedRTP: "800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392",
            protectedRTCP: "81c8000bcafebabec98b8b5df0392a55852b6c21ac8e7025c52c6fbea2b3b446ea31123ba88ce61e80000001"),
    ]

    @Test(arguments: vectors)
    func aKnownPacketBecomesTheKnownBytes(vector: Vector) throws {
        let pair = try SRTPPair(vector.profile, key: bytes(vector.key))
        #expect(try pair.protectRTP(bytes(Self.rtp)) == bytes(vector.protectedRTP))
        #expect(try pair.protectRTCP(bytes(Self.rtcp)) == bytes(vector.protectedRTCP))
        #expect(try pair.unprotectRTP(bytes(vector.protectedRTP)) == bytes(Self.rtp))
        #expect(try pair.unprotectRTCP(bytes(vector.protectedRTCP)) == bytes(Self.rtcp))
    }

    @Test(arguments: SRTPKeys.Profile.allCases)
    func packetsOfAllLengthsCross(profile: SRTPKeys.Profile) throws {
        let pair = try SRTPPair(profile)
        for length in 0..<400 {
            let packet = rtpPacket(sequenceNumber: UInt16(length), payloadLength: length)
            let protected = try pair.protectRTP(packet)
            #expect(protected.count == packet.count + (profile == .aeadAES128GCM ? 16 : 10))
            #expect(protected.prefix(12) == packet.prefix(12))
            #expect(try pair.unprotectRTP(protected) == packet)
        }
        let largest = rtpPacket(sequenceNumber: 400, payloadLength: 65_000)
        #expect(try pair.unprotectRTP(pair.protectRTP(largest)) == largest)
    }

    @Test(arguments: SRTPKeys.Profile.allCases)
    func sequenceNumbersWrapAndRollOver(profile: SRTPKeys.Profile) throws {
        let pair = try SRTPPair(profile)
        var packets: [[UInt8]] = []
        for step in UInt16(0)..<40 {
            packets.append(rtpPacket(sequenceNumber: 65_516 &+ step, payloadLength: 20))
        }
        for packet in packets { #expect(try pair.unprotectRTP(pair.protectRTP(packet)) == packet) }
    }

    @Test(arguments: SRTPKeys.Profile.allCases)
    func aPacketComesInOnce(profile: SRTPKeys.Profile) throws {
        let pair = try SRTPPair(profile)
        let protected = try (0..<300).map { try pair.protectRTP(rtpPacket(sequenceNumber: $0, payloadLength: 20)) }
        // 128 late is in time; and each once only.
        for number in (100..<300).reversed() { _ = try pair.unprotectRTP(protected[number]) }
        for number in 100..<300 {
            #expect(throws: SRTPError.replay) { try pair.unprotectRTP(protected[number]) }
        }
        let report = try pair.protectRTCP(bytes(Self.rtcp))
        _ = try pair.unprotectRTCP(report)
        #expect(throws: SRTPError.replay) { try pair.unprotectRTCP(report) }
    }

    @Test func weDoNotSendASequenceNumberTwice() throws {
        let pair = try SRTPPair(.aeadAES128GCM)
        let packet = rtpPacket(sequenceNumber: 9, payloadLength: 20)
        _ = try pair.protectRTP(packet)
        #expect(throws: SRTPError.replay) { try pair.protectRTP(packet) }
    }

    @Test(arguments: SRTPKeys.Profile.allCases)
    func aChangedPacketIsRefused(profile: SRTPKeys.Profile) throws {
        let pair = try SRTPPair(profile)
        let rtp = try pair.protectRTP(rtpPacket(sequenceNumber: 1, payloadLength: 20))
        let rtcp = try pair.protectRTCP(bytes(Self.rtcp))
        for bit in 0..<rtp.count * 8 {
            var changed = rtp
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SRTPError.self, "bit \(bit)") { try pair.unprotectRTP(changed) }
        }
        for bit in 0..<rtcp.count * 8 {
            var changed = rtcp
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SRTPError.self, "bit \(bit)") { try pair.unprotectRTCP(changed) }
        }
        #expect(throws: SRTPError.authentication) {
            var changed = rtp
            changed[20] ^= 1
            return try pair.unprotectRTP(changed)
        }
        // None of them spoiled the session.
        _ = try pair.unprotectRTP(rtp)
        _ = try pair.unprotectRTCP(rtcp)
    }

    @Test(arguments: SRTPKeys.Profile.allCases)
    func aPacketCutAnywhereIsRefused(profile: SRTPKeys.Profile) throws {
        let pair = try SRTPPair(profile)
        let rtp = try pair.protectRTP(rtpPacket(sequenceNumber: 1, payloadLength: 20))
        let rtcp = try pair.protectRTCP(bytes(Self.rtcp))
        for length in 0..<rtp.count {
            #expect(throws: SRTPError.self) { try pair.unprotectRTP(Array(rtp[..<length])) }
        }
        for length in 0..<rtcp.count {
            #expect(throws: SRTPError.self) { try pair.unprotectRTCP(Array(rtcp[..<length])) }
        }
        for length in 0..<8 {
            #expect(throws: SRTPError.malformed) { try pair.unprotectRTP(Array(rtp[..<length])) }
            #expect(throws: SRTPError.malformed) { try pair.unprotectRTCP(Array(rtcp[..<length])) }
            #expect(throws: SRTPError.malformed) { try pair.protectRTP(Array(rtp[..<length])) }
            #expect(throws: SRTPError.malformed) { try pair.protectRTCP(Array(rtcp[..<length])) }
        }
    }

    @Test(arguments: SRTPKeys.Profile.allCases)
    func noMutationTrapsOrPasses(profile: SRTPKeys.Profile) throws {
        let pair = try SRTPPair(profile)
        var entropy = Entropy.seeded(17)
        let genuine = [
            try pair.protectRTP(rtpPacket(sequenceNumber: 1, payloadLength: 20)),
            try pair.protectRTCP(bytes(Self.rtcp)),
        ]
        for turn in 0..<6_000 {
            var packet = genuine[turn & 1]
            for _ in 0..<Int.random(in: 1...3, using: &entropy) {
                packet[Int.random(in: 0..<packet.count, using: &entropy)] ^= UInt8.random(in: 1...255, using: &entropy)
            }
            packet.removeLast(Int.random(in: 0...packet.count, using: &entropy))
            guard packet != genuine[turn & 1] else { continue }
            #expect(throws: SRTPError.self) { try pair.unprotectRTP(packet) }
            #expect(throws: SRTPError.self) { try pair.unprotectRTCP(packet) }
            // Our own packets too may be handed over broken: never past their end.
            _ = try? pair.protectRTP(packet)
            _ = try? pair.protectRTCP(packet)
        }
        _ = try pair.unprotectRTP(genuine[0])
        _ = try pair.unprotectRTCP(genuine[1])
    }

    @Test func headersThatReachPastThePacketAreRefused() throws {
        let pair = try SRTPPair(.aes128CMSHA1_80)
        // 15 CSRCs that are not there; an extension of 65,535 words.
        var crowded = rtpPacket(sequenceNumber: 1, payloadLength: 30)
        crowded[0] |= 0x0F
        var extended = rtpPacket(sequenceNumber: 2, payloadLength: 30)
        extended[0] |= 0x10
        extended[14] = 0xFF
        extended[15] = 0xFF
        for packet in [crowded, extended] {
            #expect(throws: SRTPError.malformed) { try pair.protectRTP(packet) }
            #expect(throws: SRTPError.malformed) { try pair.unprotectRTP(packet) }
        }
    }

    @Test func aBufferWithoutRoomIsRefused() throws {
        let pair = try SRTPPair(.aeadAES128GCM)
        let packet = rtpPacket(sequenceNumber: 1, payloadLength: 20)
        #expect(throws: SRTPError.noRoom) { try pair.protectRTP(packet, room: SRTPTransport.trailerRoom - 1) }
        #expect(try pair.protectRTP(packet, room: SRTPTransport.trailerRoom).count == packet.count + 16)
    }

    @Test func countsThatTheBufferDoesNotHaveAreRefused() throws {
        var transport = try SRTPTransport(SRTPPair.keys(.aeadAES128GCM))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
        defer { buffer.deallocate() }
        buffer.initializeMemory(as: UInt8.self, repeating: 0x80)
        for count in [-1, 65, Int.max, Int.min] {
            #expect(throws: SRTPError.self) { _ = try transport.protectRTP(buffer, count: count) }
            #expect(throws: SRTPError.self) { _ = try transport.unprotectRTP(buffer, count: count) }
            #expect(throws: SRTPError.self) { _ = try transport.protectRTCP(buffer, count: count) }
            #expect(throws: SRTPError.self) { _ = try transport.unprotectRTCP(buffer, count: count) }
        }
    }

    @Test func strangersDoNotCountAsSourcesAndAPeersSourcesAreBounded() throws {
        let pair = try SRTPPair(.aeadAES128GCM)
        for source in UInt32(1_000)..<1_100 {
            let stranger = rtpPacket(sequenceNumber: 1, ssrc: source, payloadLength: 40)
            #expect(throws: SRTPError.authentication) { try pair.unprotectRTP(stranger) }
        }
        for source in UInt32(0)..<UInt32(SourceList.limit) {
            _ = try pair.unprotectRTP(pair.protectRTP(rtpPacket(sequenceNumber: 1, ssrc: source, payloadLength: 20)))
        }
        let oneMore = try pair.protectRTP(rtpPacket(sequenceNumber: 1, ssrc: 99, payloadLength: 20))
        #expect(throws: SRTPError.tooManySources) { try pair.unprotectRTP(oneMore) }
        let known = rtpPacket(sequenceNumber: 2, ssrc: 5, payloadLength: 20)
        #expect(try pair.unprotectRTP(pair.protectRTP(known)) == known)
    }

    @Test(arguments: SRTPKeys.Profile.allCases)
    func keysOfAWrongLengthAreRefused(profile: SRTPKeys.Profile) {
        let right = SRTPPair.key(profile)
        let pairs: [([UInt8], [UInt8])] = [([], []), ([1], [2]), (right, []), ([], right)]
        for (local, remote) in pairs {
            #expect(throws: SRTPError.keyLength) {
                _ = try SRTPTransport(SRTPKeys(profile: profile, local: local, remote: remote))
            }
        }
    }

    @Test func erasedKeysAreZero() {
        var keys = SRTPPair.keys(.aeadAES128GCM)
        keys.erase()
        #expect(keys.local == [UInt8](repeating: 0, count: 28))
        #expect(keys.remote == [UInt8](repeating: 0, count: 28))
    }

    @Test func theLibraryIsKeptAliveByOneSession() throws {
        let library = try SRTPLibrary()
        _ = try SRTPPair(.aes128CMSHA1_80)
        withExtendedLifetime(library) {}
        #expect(SRTPLibrary.version.hasPrefix("libsrtp2 2."))
    }

    private func rtpPacket(sequenceNumber: UInt16, ssrc: UInt32 = 0xCAFE_BABE, payloadLength: Int) -> [UInt8] {
        var packet: [UInt8] = [0x80, 111]
        withUnsafeBytes(of: sequenceNumber.bigEndian) { packet += $0 }
        packet += [0, 0, 0, 0] as [UInt8]
        withUnsafeBytes(of: ssrc.bigEndian) { packet += $0 }
        packet += [UInt8](repeating: 7, count: payloadLength)
        return packet
    }

    private func bytes(_ hex: String) throws -> [UInt8] {
        let digits = Array(hex)
        return try stride(from: 0, to: digits.count, by: 2).map {
            try #require(UInt8(String(digits[$0..<$0 + 2]), radix: 16))
        }
    }
}

/// What one transport protects, the other unprotects.
private final class SRTPPair {
    private var sender: SRTPTransport
    private var receiver: SRTPTransport

    init(_ profile: SRTPKeys.Profile, key: [UInt8]? = nil) throws {
        let keys = SRTPPair.keys(profile, local: key)
        sender = try SRTPTransport(keys)
        receiver = try SRTPTransport(SRTPKeys(profile: profile, local: keys.remote, remote: keys.local))
    }

    static func key(_ profile: SRTPKeys.Profile) -> [UInt8] {
        Array((0..<UInt8(profile.keyByteCount + profile.saltByteCount)))
    }

    static func keys(_ profile: SRTPKeys.Profile, local: [UInt8]? = nil) -> SRTPKeys {
        SRTPKeys(profile: profile, local: local ?? key(profile), remote: Array(key(profile).reversed()))
    }

    func protectRTP(_ packet: [UInt8], room: Int = 148) throws -> [UInt8] {
        try SRTPPair.inPlace(packet, room: room) { try sender.protectRTP($0, count: $1) }
    }

    func protectRTCP(_ packet: [UInt8], room: Int = 148) throws -> [UInt8] {
        try SRTPPair.inPlace(packet, room: room) { try sender.protectRTCP($0, count: $1) }
    }

    func unprotectRTP(_ packet: [UInt8]) throws -> [UInt8] {
        try SRTPPair.inPlace(packet, room: 0) { try receiver.unprotectRTP($0, count: $1) }
    }

    func unprotectRTCP(_ packet: [UInt8]) throws -> [UInt8] {
        try SRTPPair.inPlace(packet, room: 0) { try receiver.unprotectRTCP($0, count: $1) }
    }

    /// A block of just the size, so that a memory checker sees each byte too many.
    private static func inPlace(
        _ packet: [UInt8], room: Int, _ body: (UnsafeMutableRawBufferPointer, Int) throws -> Int
    ) throws -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: packet.count + room, alignment: 16)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: packet)
        return Array(buffer[..<(try body(buffer, packet.count))])
    }
}
