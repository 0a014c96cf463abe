import Testing

@testable import Appliance

@Suite struct TextSearchTests {
    @Test(arguments: [
        ("abcabc", "bc", 1), ("abc", "abc", 0), ("äöü", "ü", 4), ("aab", "ab", 1), ("abc", "d", nil), ("", "a", nil),
        ("ab", "abc", nil),
    ])
    func aTextIsFoundWhereItStandsFirst(text: String, sought: String, byte: Int?) {
        let place = text.firstPlace(of: sought)
        #expect(place.map { text.utf8.distance(from: text.startIndex, to: $0.lowerBound) } == byte)
        #expect(place.map { String(text[$0]) } == place.map { _ in sought })
    }

    @Test(arguments: [
        ("{call}.wav", "1.wav"), ("a{call}b{call}", "a1b1"), ("none", "none"), ("{call", "{call"), ("{{call}}", "{1}"),
    ])
    func placeholdersAreFilled(template: String, expected: String) {
        #expect(template.filling("{call}", with: "1") == expected)
    }

    @Test func whatIsFilledInIsNotFilledAgain() {
        #expect("{a}{a}".filling("{a}", with: "{a}") == "{a}{a}")
    }
}
