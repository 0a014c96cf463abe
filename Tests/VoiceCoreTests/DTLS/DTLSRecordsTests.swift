import Testing

@testable import Support
@testable import VoiceCore

@Suite struct DTLSRecordsTests {
    struct Case: Sendable {
        var role: DTLSRole
        var kind: UInt8
        var epoch: UInt8
        var body: [UInt8]
        var passes: Bool

        init(_ role: DTLSRole, _ kind: UInt8, _ epoch: UInt8, _ body: [UInt8], _ passes: Bool) {
            self.role = role
            self.kind = kind
            self.epoch = epoch
            self.body = body
            self.passes = passes
        }
    }

    static let cases: [Case] = [
        Case(.server, 22, 0, message(1), true),
        Case(.client, 22, 0, message(1), false),
        Case(.client, 22, 0, message(2), true),
        Case(.server, 22, 0, message(2), false),
        Case(.server, 22, 0, message(20), false),
        Case(.client, 22, 0, message(20), false),
        Case(.client, 22, 0, [14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], true),
        Case(.client, 22, 0, [], false),
        Case(.server, 22, 0, message(1) + [1], false),
        Case(.server, 22, 0, message(1) + message(1), true),
        // A fragment past its message's end; an empty fragment; a message of 16 MB.
        Case(.server, 22, 0, [1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 9], false),
        Case(.server, 22, 0, [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], false),
        Case(.server, 22, 0, [1, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 1, 9], false),
        Case(.server, 20, 0, [1], true),
        Case(.server, 20, 0, [2], false),
        Case(.server, 20, 0, [1, 1], false),
        Case(.server, 21, 0, [2, 40], false),
        Case(.server, 23, 0, [1], false),
        Case(.server, 24, 0, [1], false),
        Case(.server, 23, 1, [1], true),
        Case(.server, 22, 1, [20], true),
    ]

    @Test(arguments: cases)
    func aRecordPassesOnlyInItsPlace(given: Case) {
        let bytes = record(given.kind, given.epoch, given.body)
        #expect(walk(bytes, role: given.role) == (given.passes ? [bytes] : []))
    }

    @Test func theRecordsOfADatagramComeOneByOne() {
        let good = record(20, 0, [1])
        let bad = record(23, 0, [1])
        #expect(walk(good + bad + good, role: .client) == [good, good])
        #expect(walk(good + good.dropLast(), role: .client) == [good])
        #expect(walk(good + [22], role: .client) == [good])
    }

    @Test func aPlaintextAlertIsRememberedAndNotPassed() {
        let codes: [([UInt8], UInt8?)] = [([2, 40], 40), ([1, 0], 0), ([1, 90], nil), ([2], nil)]
        for (body, code) in codes {
            record(21, 0, body).withUnsafeBytes {
                var records = DTLSRecords($0, role: .client, isConnected: false)
                #expect(records.next() == nil)
                #expect(records.plaintextAlert == code)
                #expect(records.malformed == (body.count == 2 ? 0 : 1))
            }
        }
    }

    @Test func onceConnectedOpenSSLDecides() {
        let alert = record(21, 0, [2, 40])
        #expect(walk(alert, role: .client, isConnected: true) == [alert])
    }

    @Test func noMutationTraps() {
        var entropy = Entropy.seeded(11)
        var whole = record(22, 0, Self.message(1))
        whole += record(20, 0, [1])
        whole += record(21, 0, [2, 40])
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &entropy) {
                bytes[Int.random(in: 0..<bytes.count, using: &entropy)] = UInt8.random(in: 0...255, using: &entropy)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &entropy))
            let passed = walk(bytes, role: .server)
            #expect(passed.reduce(0) { $0 + $1.count } <= bytes.count)
        }
    }

    /// A whole handshake message of one byte.
    private static func message(_ kind: UInt8) -> [UInt8] {
        [kind, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9]
    }

    private func record(_ kind: UInt8, _ epoch: UInt8, _ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = [kind, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 0]
        bytes.append(UInt8(body.count >> 8))
        bytes.append(UInt8(body.count & 255))
        bytes += body
        return bytes
    }

    private func walk(_ datagram: [UInt8], role: DTLSRole, isConnected: Bool = false) -> [[UInt8]] {
        datagram.withUnsafeBytes {
            var records = DTLSRecords($0, role: role, isConnected: isConnected)
            var passed: [[UInt8]] = []
            while let record = records.next() { passed.append(Array(record)) }
            return passed
        }
    }
}
