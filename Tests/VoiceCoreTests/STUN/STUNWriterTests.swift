import Testing

@testable import Support
@testable import VoiceCore

@Suite struct STUNWriterTests {
    private let transaction = STUNTransactionID(high: 0xB7E7_A701_BC34_D686, low: 0xFA87_DFAE)

    @Test(arguments: ["192.0.2.1:32853", "[2001:db8::1]:5", "[::1]:65535", "255.255.255.255:1"])
    func anAddressComesBackAsItWent(text: String) throws {
        let address = SocketAddress(text)
        let bytes = stunMessage(.success, transaction, password: "secret") { $0.xorMappedAddress(address) }
        try bytes.withUnsafeBytes { raw in
            let message = try STUNMessage(parsing: raw)
            #expect(message.mappedAddress == address)
            #expect(message.isAuthentic(STUNKey(password: "secret")))
            #expect(message.hasFingerprint)
        }
    }

    @Test func aCheckComesBackAsItWent() throws {
        let bytes = stunMessage(.request, transaction, password: "secret") { writer in
            writer.username(Array("ab/c:defgh".utf8))
            writer.role(.controlling(tieBreaker: 77))
            writer.priority(1_862_270_975)
            writer.useCandidate()
        }
        try bytes.withUnsafeBytes { raw in
            let message = try STUNMessage(parsing: raw)
            #expect(message.kind == .request)
            #expect(message.transaction == transaction)
            #expect(message.username.map { String(decoding: $0, as: UTF8.self) } == "ab/c:defgh")
            #expect(message.role == .controlling(tieBreaker: 77))
            #expect(message.priority == 1_862_270_975)
            #expect(message.usesCandidate)
        }
    }

    @Test func anErrorNamesItsCodeAndWhatWasNotUnderstood() throws {
        let bytes = stunMessage(.error, transaction, password: "secret") { writer in
            writer.errorCode(420, reason: "Unknown Attribute")
            writer.unknownAttributes([0x4001, 0x4002, 0x4003])
        }
        let list: [UInt8] = [0x00, 0x0A, 0, 6, 0x40, 0x01, 0x40, 0x02, 0x40, 0x03, 0, 0]
        #expect(bytes.indices.contains { bytes[$0...].starts(with: list) })
        try bytes.withUnsafeBytes { raw in
            let message = try STUNMessage(parsing: raw)
            #expect(message.kind == .error)
            #expect(message.errorCode == 420)
            #expect(message.isAuthentic(STUNKey(password: "secret")))
        }
    }

    @Test(arguments: STUNKind.all)
    func kindAndMethodComeBackWhateverTheirBits(kind: STUNKind) throws {
        for method: UInt16 in [1, 3, 0x0F, 0x70, 0xF80, 0xFFF] {
            let header = withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { buffer -> [UInt8] in
                var writer = STUNWriter(buffer, kind: kind.value, method: method, transaction: transaction)
                return Array(buffer[..<(writer.finish(key: nil) ?? 0)])
            }
            try header.withUnsafeBytes { raw in
                let message = try STUNMessage(parsing: raw)
                #expect(message.kind == kind.value)
                #expect(message.method == method)
            }
        }
    }

    @Test func aBufferThatIsTooSmallGivesNothing() {
        let bytes = stunMessage(.request, transaction, password: "secret") { $0.priority(1) }
        for size in 0..<bytes.count {
            let byteCount = withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer -> Int? in
                var writer = STUNWriter(buffer, kind: .request, transaction: transaction)
                writer.priority(1)
                return writer.finish(key: STUNKey(password: "secret"))
            }
            #expect(byteCount == nil)
        }
    }

    struct STUNKind: Sendable {
        var value: STUNMessage.Kind
        static let all = [STUNMessage.Kind.request, .indication, .success, .error].map { STUNKind(value: $0) }
    }
}
