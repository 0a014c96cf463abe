import Testing

@testable import VoiceCore

@Suite struct SDPTextTests {
    private static let numbers: [(String, UInt64?)] = [
        ("0", UInt64(0)), ("18446744073709551614", .max - 1), ("18446744073709551615", .max),
        ("18446744073709551616", .max), ("999999999999999999999999999999", .max), ("007", 7),
        ("", nil), ("-1", nil), ("+1", nil), ("1a", nil), ("1 2", nil), ("١", nil),
    ]

    @Test(arguments: numbers)
    func numbersAreDecimalAndNeverOverflow(text: String, number: UInt64?) {
        #expect(SDPText(text).number == number)
    }

    @Test func wordsEndAtBlanks() {
        var text = SDPText(" \ta  bc\td ")
        var words: [String] = []
        while let word = text.word() { words.append(word.string) }
        #expect(words == ["a", "bc", "d"])
    }

    @Test func fieldsEndAtTheirSeparator() {
        var text = SDPText("name : value:rest")
        #expect(text.field(before: UInt8(ascii: ":")).string == "name")
        #expect(text.field(before: UInt8(ascii: ":")).string == "value")
        #expect(text.field(before: UInt8(ascii: ":")).string == "rest")
        #expect(text.field(before: UInt8(ascii: ":")).isEmpty)
    }

    @Test func aCombiningMarkAfterASeparatorDoesNotHideIt() {
        var text = SDPText("a \u{301}b=\u{301}c")
        #expect(text.word()?.string == "a")
        #expect(text.field(before: UInt8(ascii: "=")).string == "\u{301}b")
    }

    @Test(arguments: [
        ("a\r\nb\nc\rd", ["a", "b", "c", "d"]), ("a\r\n", ["a"]), ("\n\r\n\ra", ["", "", "", "a"]), ("", []),
    ])
    func linesEndWithAnyOfTheThree(text: String, lines: [String]) {
        #expect(SDPLines(text).map(\.text.string) == lines)
        #expect(SDPLines(text).map(\.number) == Array(1...max(1, lines.count)).filter { $0 <= lines.count })
    }
}
