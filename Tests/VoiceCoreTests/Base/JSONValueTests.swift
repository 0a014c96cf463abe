import Testing

@testable import Support
@testable import VoiceCore

@Suite struct JSONValueTests {
    private func read(_ text: String) -> JSONValue? {
        JSONValue(reading: Array(text.utf8))
    }

    @Test func membersAreReadByTheirType() {
        let text = #" {"a" : "b", "n":-1.5e2, "o":{"p":"q","r":{}} ,"l":[1,[{}],"x"],"t":true,"f":false,"z":null} "#
        let expected: [String: JSONValue] = [
            "a": .text("b"), "n": .number(-150), "o": .object(["p": .text("q"), "r": .object([:])]),
            "l": .array([.number(1), .array([.object([:])]), .text("x")]), "t": .bool(true), "f": .bool(false),
            "z": .null,
        ]
        #expect(read(text) == .object(expected))
    }

    @Test(arguments: [
        (#""""#, ""), (#""v=0\r\no=-""#, "v=0\r\no=-"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
        (#""\u00e9\u00E9é""#, "ééé"), (#""\ud83d\ude00""#, "😀"), (#""\uffff\u0000""#, "\u{FFFF}\u{0}"),
    ])
    func textsAreUnescaped(json: String, expected: String) {
        #expect(read(#"{"a":\#(json)}"#)?["a"]?.text == expected)
    }

    @Test(arguments: [
        ("0", 0), ("-0", 0), ("10", 10), ("0.25", 0.25), ("1e3", 1000), ("1E+3", 1000), ("1e-2", 0.01),
        ("99999999999999999999", 1e20),
    ])
    func numbersAreRead(json: String, expected: Double) {
        #expect(read(#"{"a":\#(json)}"#)?["a"]?.number == expected)
    }

    @Test func theLastOfTwoMembersOfOneNameCounts() {
        #expect(read(#"{"a":1,"a":"b"}"#) == .object(["a": .text("b")]))
    }

    @Test(arguments: [
        "", "{", "}", "1", #""a""#, "{}x", "{} {}", "{a:1}", "{'a':1}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#,
        #"{,"a":1}"#, #"{"a":1 "b":2}"#, #"{"a":[1,]}"#, #"{"a":[1 2]}"#, #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#,
        #"{"a":+1}"#, #"{"a":1e}"#, #"{"a":1e999}"#, #"{"a":-}"#, #"{"a":0x1}"#, #"{"a":NaN}"#, #"{"a":tru}"#,
        #"{"a":"\x"}"#, #"{"a":"\u12g4"}"#, #"{"a":"\ud83d"}"#, #"{"a":"\ud83dx"}"#, #"{"a":"\ude00"}"#,
        #"{"a":"\ud83d\u0041"}"#, "{\"a\":\"\n\"}", "{\"a\u{0}\":1}", #"{"a\u0000":1}"#, "{\"a\u{16}b\":1}",
        #"{"\x":1}"#,
    ])
    func whatIsNoJSONIsRefused(text: String) {
        #expect(read(text) == nil)
    }

    @Test(
        arguments: [
            [0xFF, 0xFE, 0x7B, 0x00], [0x00, 0x7B, 0x00, 0x7D], [0x7B, 0x22, 0xC3, 0x28, 0x22, 0x3A, 0x31, 0x7D],
        ]
            as [[UInt8]])
    func bytesThatAreNoUTF8AreRefused(bytes: [UInt8]) {
        #expect(JSONValue(reading: bytes) == nil)
    }

    @Test(arguments: [(31, true), (32, false), (2_000, false), (100_000, false)])
    func deepNestingIsRefused(depth: Int, isRead: Bool) {
        let text = String(repeating: "[", count: depth + 1) + String(repeating: "]", count: depth + 1)
        #expect((read(text) != nil) == isRead)
    }

    @Test func whatIsWrittenIsCompactAndInTheOrderOfNames() {
        let value = JSONValue.object([
            "z": .array([.null, .bool(true), .number(.nan)]), "a": .text("\"\\\n\u{1}\u{0}é"), "n": .number(-20.1),
            "e": .text(""),
        ])
        #expect(
            String(decoding: value.encoded, as: UTF8.self)
                == #"{"a":"\"\\\n\u0001\u0000é","e":"","n":-20.1,"z":[null,true,null]}"#)
    }

    @Test func mutatedTextsNeverTrapAndWhatIsReadCanBeWrittenAndReadAgain() {
        let seed = Array(#"{"a":"b\n\ud83d\ude00","n":[-1.5e2,{"o":true}],"s":"v=0\r\n","x":null}"#.utf8)
        var entropy = Entropy.seeded(7)
        var readCount = 0
        for _ in 0..<5_000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 1...3, using: &entropy) {
                bytes[Int.random(in: bytes.indices, using: &entropy)] = UInt8.random(in: .min ... .max, using: &entropy)
            }
            guard let value = JSONValue(reading: bytes) else { continue }
            readCount += 1
            #expect(JSONValue(reading: value.encoded) == value)
        }
        #expect(readCount > 100)
    }
}
