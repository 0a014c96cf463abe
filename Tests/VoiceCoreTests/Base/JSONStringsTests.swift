import Testing

@testable import VoiceCore

@Suite struct JSONStringsTests {
    @Test(arguments: [
        (#"{"a":"b","c":[1,true,null]}"#, true),
        (#"{"\u00e9\n\"\\":"\ud83d\ude00"}"#, true),
        ("{\n\t\"a\" : 1\r\n}", true),
        ("{\"a\u{16}b\":1}", false),
        ("{\"a\nb\":1}", false),
        ("{\"a\":\u{0}1}", false),
        (#"{"\x":1}"#, false),
        (#"{"\u12g4":1}"#, false),
        (#"{"\ud83d":1}"#, false),
        (#"{"\ud83dA":1}"#, false),
        (#"{"\ude00":1}"#, false),
        (#"{"a"#, true),
        (#"{"a\"#, false),
        ("", true),
    ]) func whatCannotBeDecodedIsToldApart(text: String, isSound: Bool) {
        #expect(JSONStrings.canBeDecoded(Array(text.utf8)) == isSound)
    }

    @Test(arguments: [[0xFF, 0xFE, 0x7B, 0x00], [0x22, 0xC0, 0x22], [0x00, 0x7B, 0x00, 0x7D]] as [[UInt8]])
    func whatIsNotUTF8IsRefused(bytes: [UInt8]) {
        #expect(!JSONStrings.canBeDecoded(bytes))
    }
}
