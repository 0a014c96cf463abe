import Testing

@testable import Support
@testable import VoiceCore

@Suite struct FingerprintSDPTests {
    @Test(arguments: Fingerprint.Algorithm.allCases)
    func whatIsReadIsWrittenAlike(algorithm: Fingerprint.Algorithm) throws {
        var entropy = Entropy.seeded(1)
        let fingerprint = Fingerprint(algorithm: algorithm, digest: entropy.bytes(algorithm.byteCount))
        #expect(try Fingerprint(sdp: SDPText(fingerprint.sdp)) == fingerprint)
        #expect(try Fingerprint(sdp: SDPText(fingerprint.sdp.lowercased())) == fingerprint)
        #expect(try Fingerprint(sdp: SDPText(fingerprint.sdp.uppercased())) == fingerprint)
    }

    private static func bytes(_ byte: String, _ count: Int) -> String {
        Array(repeating: byte, count: count).joined(separator: ":")
    }

    private static let noHashes: [(String, Fingerprint.SDPFault)] = [
        ("", Fingerprint.SDPFault.algorithm), ("sha-1 AB:CD", .algorithm), ("md5 AB", .algorithm),
        ("sha-256", .digest), ("sha-256 AB", .digest),
        ("sha-256 " + bytes("AB", 33), .digest),
        ("sha-256 " + bytes("AB", 31) + ":", .digest),
        ("sha-256 " + bytes("+B", 32), .digest),
        ("sha-256 " + bytes("GG", 32), .digest),
        ("sha-256 " + bytes("A", 32), .digest),
        ("sha-256 " + String(repeating: "AB", count: 32), .digest),
    ]

    @Test(arguments: noHashes)
    func whatIsNoHashIsRefused(text: String, fault: Fingerprint.SDPFault) {
        #expect(throws: fault) { try Fingerprint(sdp: SDPText(text)) }
    }
}
