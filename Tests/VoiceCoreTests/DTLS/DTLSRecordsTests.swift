import Testing

@testable import Support
@testable import VoiceCore

@Suite struct DTLSRecordsTests {
    private static let ok: [UInt8] = [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9]

    @Test(
        arguments: [
            // role, kind, epoch, body, passes
            (DTLSRole.server, 22, 0, [1] + ok, true),
            (.client, 22, 0, [1] + ok, false),
            (.client, 22, 0, [2] + ok, true),
            (.server, 22, 0, [2] + ok, false),
            (.server, 22, 0, [20] + ok, false),
            (.client, 22, 0, [20] + ok, false),
            (.client, 22, 0, [14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], true),
            (.client, 22, 0, [], false),
            (.server, 22, 0, [1] + ok + [1], false),
            (.server, 22, 0, [1] + ok + [1] + ok, true),
            // A fragment past its message's end; an empty fragment; a message of 16 MB.
            (.server, 22, 0, [1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 9], false),
            (.server, 22, 0, [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0], false),
            (.server, 22, 0, [1, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 1, 9], false),
            (.server, 20, 0, [1], true),
            (.server, 20, 0, [2], false),
            (.server, 20, 0, [1, 1], false),
            (.server, 21, 0, [2, 40], false),
            (.server, 23, 0, [1], false),
            (.server, 24, 0, [1], false),
            (.server, 23, 1, [1], true),
            (.server, 22, 1, [20], true),
        ] as [(DTLSRole, UInt8, UInt8, [UInt8], Bool)])
    func aRecordPassesOnlyInItsPlace(role: DTLSRole, kind: UInt8, epoch: UInt8, body: [UInt8], passes: Bool) {
        let record = header(kind, epoch, body.count) + body
        #expect(walk(record, role: role) == (passes ? [record] : []))
    }

    @Test func theRecordsOfADatagramComeOneByOne() {
        let good = header(20, 0, 1) + [1]
        let bad = header(23, 0, 1) + [1]
        #expect(walk(good + bad + good, role: .client) == [good, good])
        #expect(walk(good + good.dropLast(), role: .client) == [good])
        #expect(walk(good + [22], role: .client) == [good])
    }

    @Test func aPlaintextAlertIsRememberedAndNotPassed() {
        for (body, code) in [([2, 40], 40), ([1, 0], 0), ([1, 90], nil), ([2], nil)] as [([UInt8], UInt8?)] {
            let record = header(21, 0, body.count) + body
            record.withUnsafeBytes {
                var records = DTLSRecords($0, role: .client, isConnected: false)
                #expect(records.next() == nil)
                #expect(records.plaintextAlert == code)
                #expect(records.malformed == (body.count == 2 ? 0 : 1))
            }
        }
    }

    @Test func onceConnectedOpenSSLDecides() {
        let record = header(21, 0, 2) + [2, 40]
        #expect(walk(record, role: .client, isConnected: true) == [record])
    }

    @Test func noMutationTraps() {
        var entropy = Entropy.seeded(11)
        let whole = header(22, 0, 13) + [1] + Self.ok + header(20, 0, 1) + [1] + header(21, 0, 2) + [2, 40]
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

    private func header(_ kind: UInt8, _ epoch: UInt8, _ length: Int) -> [UInt8] {
        [kind, 0xFE, 0xFD, 0, epoch, 0, 0, 0, 0, 0, 0, UInt8(length >> 8), UInt8(length & 255)]
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
