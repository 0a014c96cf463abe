import Testing

@testable import VoiceCore

@Suite struct STUNFingerprintTests {
    /// The check value of CRC-32 is 0xCBF43926 for "123456789".
    @Test func theChecksumIsCRC32TurnedByTheConstant() {
        let value = Array("123456789".utf8).withUnsafeBytes { STUNFingerprint.value(of: $0) }
        #expect(value == 0xCBF4_3926 ^ 0x5354_554E)
    }
}
