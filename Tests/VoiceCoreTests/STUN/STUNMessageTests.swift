import Testing

@testable import Support
@testable import VoiceCore

@Suite struct STUNMessageTests {
    private let transaction = STUNTransactionID(high: 0xB7E7_A701_BC34_D686, low: 0xFA87_DFAE)

    private func parse<Value>(_ bytes: [UInt8], _ body: (STUNMessage) throws -> Value) throws -> Value {
        try bytes.withUnsafeBytes { try body(try STUNMessage(parsing: $0)) }
    }

    @Test func readsTheSampleRequest() throws {
        try parse(STUNVectors.request) { message in
            #expect(message.kind == .request)
            #expect(message.method == STUNHeader.binding)
            #expect(message.transaction == transaction)
            #expect(message.username.map { String(decoding: $0, as: UTF8.self) } == "evtj:h6vY")
            #expect(message.priority == 0x6E00_01FF)
            #expect(message.role == .controlled(tieBreaker: 0x932F_F9B1_5126_3B36))
            #expect(message.hasFingerprint)
            #expect(message.unknownAttributes.isEmpty)
            #expect(message.isAuthentic(STUNKey(password: STUNVectors.password)))
            #expect(!message.isAuthentic(STUNKey(password: STUNVectors.password + "x")))
        }
    }

    @Test(arguments: [
        (STUNVectors.responseIPv4, "192.0.2.1:32853"),
        (STUNVectors.responseIPv6, "[2001:db8:1234:5678:11:2233:4455:6677]:32853"),
    ])
    func readsTheSampleResponses(bytes: [UInt8], address: String) throws {
        try parse(bytes) { message in
            #expect(message.kind == .success)
            #expect(message.mappedAddress == SocketAddress(address))
            #expect(message.isAuthentic(STUNKey(password: STUNVectors.password)))
        }
    }

    @Test func aLongTermRequestIsAuthenticWithItsKeyAndHasUnknownAttributes() throws {
        try parse(STUNVectors.longTermRequest) { message in
            #expect(message.isAuthentic(STUNKey(bytes: STUNVectors.longTermKey)))
            #expect(message.unknownAttributes == [0x0015, 0x0014])
            #expect(!message.hasFingerprint)
        }
    }

    @Test func aChangedBitAnywhereIsNoticed() throws {
        let key = STUNKey(password: STUNVectors.password)
        for position in STUNVectors.request.indices {
            for bit in 0..<8 {
                var bytes = STUNVectors.request
                bytes[position] ^= 1 << UInt8(bit)
                let isTaken = (try? parse(bytes) { $0.isAuthentic(key) && $0.hasFingerprint }) ?? false
                #expect(!isTaken, "byte \(position), bit \(bit)")
            }
        }
    }

    private static let sample = STUNVectors.request
    private static let broken: [([UInt8], STUNError)] = [
        ([], .notSTUN),
        (Array(sample[..<19]), .notSTUN),
        ([0x80 as UInt8] + sample.dropFirst(), .notSTUN),
        (Array(sample[..<4]) + [0 as UInt8] + sample[5...], .notSTUN),
        (Array(sample[..<40]), .truncated),
        (sample + [0, 0, 0, 0] as [UInt8], .truncated),
        (sample.dropLast() + [0 as UInt8], .wrongFingerprint),
    ]

    @Test(arguments: broken)
    func whatIsNoMessageSaysWhy(bytes: [UInt8], error: STUNError) {
        #expect(throws: error) { try parse(bytes) { _ in } }
    }

    /// Attribute type, value, and whether it can be read.
    private static let attributes: [(UInt16, [UInt8], Bool)] = [
        (STUNAttribute.priority, [0, 0, 0], false), (STUNAttribute.priority, [0, 0, 0, 0, 0], false),
        (STUNAttribute.useCandidate, [1], false), (STUNAttribute.iceControlled, [0, 0, 0, 0], false),
        (STUNAttribute.messageIntegrity, [UInt8](repeating: 0, count: 19), false),
        (STUNAttribute.xorMappedAddress, [0, 3, 0, 0, 0, 0, 0, 0], false),
        (STUNAttribute.xorMappedAddress, [0, 2, 0, 0, 0, 0, 0, 0], false),
        (STUNAttribute.xorMappedAddress, [0, 1, 0, 0, 0, 0, 0, 0], true), (STUNAttribute.errorCode, [0, 0, 4], false),
        (STUNAttribute.errorCode, [0, 0, 4, 87], true), (STUNAttribute.fingerprint, [0, 0], false), (0x8022, [], true),
    ]

    @Test(arguments: attributes)
    func anAttributeOfTheWrongLengthIsMalformed(type: UInt16, value: [UInt8], isGood: Bool) {
        var bytes: [UInt8] = [0, 1, 0, UInt8(4 + (value.count + 3) / 4 * 4)]
        bytes += STUNVectors.request[4..<20]
        bytes += [UInt8(type >> 8), UInt8(type & 255), 0, UInt8(value.count)]
        bytes += value
        bytes += [UInt8](repeating: 0, count: -value.count & 3)
        let isRead = (try? parse(bytes) { _ in true }) ?? false
        #expect(isRead == isGood)
    }

    @Test func whatFollowsMessageIntegrityIsNotRead() throws {
        let bytes = stunMessage(.request, transaction, password: "p") { $0.priority(1) }
        // Between MESSAGE-INTEGRITY and FINGERPRINT a USE-CANDIDATE is slipped in, the CRC made right again.
        var forged = Array(bytes.dropLast(8)) + [0x00, 0x25, 0x00, 0x00]
        forged[3] += 4
        let crc = forged.withUnsafeBytes { STUNFingerprint.value(of: $0) }
        forged += [0x80, 0x28, 0, 4] + (0..<4).map { UInt8(truncatingIfNeeded: crc >> (24 - 8 * $0)) }
        try parse(forged) { message in
            #expect(message.isAuthentic(STUNKey(password: "p")))
            #expect(!message.usesCandidate)
        }
    }

    @Test func onlyTheFirstOfEqualAttributesCounts() throws {
        let bytes = stunMessage(.request, transaction, password: nil) { writer in
            writer.priority(1)
            writer.priority(2)
        }
        #expect(try parse(bytes) { $0.priority } == 1)
    }

    @Test func unknownAttributesAreKeptInSmallNumber() throws {
        let types = (0..<100).flatMap { [0x40, UInt8($0), 0, 0] as [UInt8] }
        let bytes: [UInt8] = [0, 1, 1, 0x90] + STUNVectors.request[4..<20] + types
        #expect(try parse(bytes) { $0.unknownAttributes.count } == 8)
    }

    @Test func mutatedMessagesNeverTrap() {
        var random = Entropy.seeded(1)
        let key = STUNKey(password: STUNVectors.password)
        let sources = [
            STUNVectors.request, STUNVectors.responseIPv4, STUNVectors.responseIPv6, STUNVectors.longTermRequest,
        ]
        var read = 0
        for round in 0..<8000 {
            var bytes = sources[round % sources.count]
            // Three in four without their FINGERPRINT, which would turn nearly all away.
            if round % 4 != 0, round % sources.count != 3 {
                bytes.removeLast(8)
                bytes[3] -= 8
            }
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let position = Int.random(in: 0..<bytes.count, using: &random)
                switch random.next() % 4 {
                case 0: bytes[position] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes[position] = [0, 0x7F, 0x80, 0xFF][Int(random.next() % 4)]
                case 2: bytes.insert(UInt8(truncatingIfNeeded: random.next()), at: position)
                default: bytes.removeSubrange(position..<min(bytes.count, position + 4))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            if random.next() & 1 == 0, bytes.count >= 20 {
                bytes[2] = UInt8(truncatingIfNeeded: (bytes.count - 20) >> 8)
                bytes[3] = UInt8(truncatingIfNeeded: bytes.count - 20)
            }
            bytes.withUnsafeBytes { raw in
                guard let message = try? STUNMessage(parsing: raw) else { return }
                read += 1
                _ = message.isAuthentic(key)
            }
        }
        #expect(read > 500)
    }
}
