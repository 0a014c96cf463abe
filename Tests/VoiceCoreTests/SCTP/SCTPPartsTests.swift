import Testing

@testable import Support
@testable import VoiceCore

/// CRC32c, SipHash, packets, cookies, numbers that wrap: the parts below the association.
struct SCTPPartsTests {
    /// Check values: "123456789" of the CRC catalogue, and RFC 3720 B.4.
    @Test func checksumsAreThoseOfThePublishedVectors() {
        let vectors: [(bytes: [UInt8], value: UInt32)] = [
            (Array("123456789".utf8), 0xE306_9283),
            ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
            ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
            (Array(0...31), 0x46DD_794E),
            ((0...31).reversed().map { UInt8($0) }, 0x113F_DB5C),
            ([], 0),
        ]
        for vector in vectors {
            var crc = CRC32C()
            vector.bytes.withUnsafeBytes { crc.add($0) }
            #expect(crc.value == vector.value)
        }
    }

    @Test func aChecksumDoesNotDependOnHowItsBytesAreHandedOver() {
        let bytes = SCTPPair.bytes(1_000)
        for cut in [0, 1, 7, 8, 9, 500, 999, 1_000] {
            var whole = CRC32C()
            var parts = CRC32C()
            bytes.withUnsafeBytes { bytes in
                whole.add(bytes)
                parts.add(UnsafeRawBufferPointer(rebasing: bytes[..<cut]))
                parts.add(UnsafeRawBufferPointer(rebasing: bytes[cut...]))
            }
            #expect(whole.value == parts.value)
        }
    }

    /// The first, the ninth and the sixteenth of the reference vectors: key 00 to 0f, input 00 01 02...
    @Test func sipHashIsThatOfThePublishedVectors() {
        let key = SipHash(key: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
        let vectors: [(count: Int, tag: UInt64)] = [
            (0, 0x726F_DB47_DD0E_0E31), (8, 0x93F5_F579_9A93_2462), (15, 0xA129_CA61_49BE_45E5),
        ]
        for vector in vectors {
            let input = (0..<vector.count).map { UInt8($0) }
            #expect(input.withUnsafeBytes { key.tag(of: $0) } == vector.tag)
        }
    }

    @Test func numbersThatWrapKeepTheirOrder() {
        #expect(UInt32.max.precedes(0))
        #expect(!UInt32(0).precedes(.max))
        #expect(!UInt32(7).precedes(7))
        #expect(UInt16(65_000).precedes(10))
        #expect(!UInt16(10).precedes(65_000))
    }

    @Test func aPacketIsReadAsItWasWritten() throws {
        let packet = HandMade.packet(tag: 7, [(200, 3, [1, 2, 3]), (11, 0, [])])
        #expect(packet.count == 12 + 8 + 4)
        let chunks = HandMade.chunks(packet)
        #expect(chunks.map(\.type) == [200, 11])
        #expect(chunks[0].value == [1, 2, 3])
        #expect(chunks[0].flags == 3)
    }

    @Test func aPacketWithOneBitTurnedIsNotRead() {
        let packet = HandMade.packet(tag: 7, [HandMade.data(1, [1, 2, 3, 4])])
        for bit in 0..<8 * packet.count {
            var bad = packet
            bad[bit / 8] ^= 1 << (bit % 8)
            #expect(HandMade.chunks(bad).isEmpty)
        }
    }

    @Test func aPacketCutAnywhereNeverTraps() {
        let packet = HandMade.packet(tag: 7, [HandMade.initiation(tag: 3), HandMade.sack(5, gaps: [(2, 3)])])
        for count in 0..<packet.count { #expect(HandMade.chunks(Array(packet[..<count])).isEmpty) }
    }

    @Test func aCookieIsTakenOnlyUnalteredAndInTime() throws {
        var entropy = Entropy.seeded(1)
        let key = SipHash(from: &entropy)
        let now = Instant(nanoseconds: 1_000)
        let peer = SCTPInitChunk(tag: 9, window: 5_000, outboundStreams: 3, inboundStreams: 4, firstTSN: 77)
        let cookie = StateCookie(
            createdAt: now, localTag: 5, localTSN: 6, outboundStreams: 10, inboundStreams: 10, peer: peer)
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = bytes.withUnsafeMutableBytes { buffer -> Int in
            var writer = ByteWriter(buffer)
            cookie.write(to: &writer, key: key)
            return writer.count
        }
        bytes.removeLast(bytes.count - count)
        func read(_ bytes: [UInt8], at time: Instant) throws -> StateCookie {
            try bytes.withUnsafeBytes { try StateCookie($0, key: key, at: time) }
        }
        #expect(count == StateCookie.byteCount)
        let readBack = try read(bytes, at: now + .seconds(60))
        #expect(readBack == cookie)
        #expect(cookie.outboundStreams == 4)
        #expect(cookie.inboundStreams == 3)
        #expect(throws: StateCookie.Problem.stale(by: .seconds(1), peerTag: 9)) {
            try read(bytes, at: now + .seconds(61))
        }
        for index in bytes.indices {
            var forged = bytes
            forged[index] ^= 1
            #expect(throws: StateCookie.Problem.forged) { try read(forged, at: now) }
        }
        #expect(throws: StateCookie.Problem.forged) { try read([], at: now) }
    }

    @Test func timeoutsFollowTheRoundTripWithinTheirBounds() {
        var timeout = RetransmissionTimeout(roundTrip: nil)
        #expect(timeout.value == .seconds(1))
        timeout.measured(.milliseconds(400))
        #expect(timeout.value == .milliseconds(1_200))  // R + 4 R/2
        for _ in 0..<100 { timeout.measured(.milliseconds(400)) }
        #expect(timeout.value < .milliseconds(410))
        for _ in 0..<100 { timeout.measured(.microseconds(100)) }
        #expect(timeout.value == RetransmissionTimeout.minimum)
        for _ in 0..<10 { timeout.backOff() }
        #expect(timeout.value == RetransmissionTimeout.maximum)
    }

    @Test func theCongestionWindowGrowsAndShrinksAsItShould() {
        var congestion = CongestionControl(packetByteCount: 1_000)
        #expect(congestion.window == 10_000)
        congestion.acknowledged(5_000, wasFull: true)
        #expect(congestion.window == 11_000)
        congestion.acknowledged(5_000, wasFull: false)
        #expect(congestion.window == 11_000)
        congestion.lost()
        #expect(congestion.window == 5_500)
        for _ in 0..<6 { congestion.acknowledged(1_000, wasFull: true) }
        // One packet for each window that was acknowledged, where it is above the threshold.
        #expect(congestion.window == 6_500)
        congestion.timedOut()
        #expect(congestion.window == 1_000)
        for _ in 0..<1_000 { congestion.acknowledged(100_000, wasFull: true) }
        #expect(congestion.window <= CongestionControl.maximum)
    }
}
