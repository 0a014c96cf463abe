import Testing

@testable import VoiceCore

@Suite struct STUNKeyTests {
    /// HMAC-SHA1 vectors of RFC 2202 3, whose texts begin where a message has its length field: key, text, digest.
    @Test(arguments: [
        ([UInt8](repeating: 0x0B, count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            [UInt8](repeating: 0xAA, count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
            "aa4ae5e15272d00e95705637ce8a3b55ed402112"
        ),
    ])
    func hmacIsThatOfTheVectors(key: [UInt8], text: String, digest: String) {
        let bytes = Array(text.utf8)
        // The length given is the one that already stands there, so the text is hashed as it is.
        let length = UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        let tag = bytes.withUnsafeBytes { STUNKey(bytes: key).tag(of: $0, withLength: length) }
        let hex = STUNVectors.bytes(digest)
        let words = stride(from: 0, to: 20, by: 4).map { start in
            hex[start..<start + 4].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        #expect(tag.first == words[0] << 32 | words[1])
        #expect(tag.second == words[2] << 32 | words[3])
        #expect(UInt64(tag.third) == words[4])
    }

    @Test func tagsMatchOnlyWhereAllBitsDo() {
        let tag = STUNTag(first: 1, second: 2, third: 3)
        #expect(tag.matches(STUNTag(first: 1, second: 2, third: 3)))
        #expect(!tag.matches(STUNTag(first: 1 << 63 | 1, second: 2, third: 3)))
        #expect(!tag.matches(STUNTag(first: 1, second: 1 << 63 | 2, third: 3)))
        #expect(!tag.matches(STUNTag(first: 1, second: 2, third: 1 << 31 | 3)))
    }
}
