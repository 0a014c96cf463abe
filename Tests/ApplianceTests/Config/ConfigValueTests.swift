import Testing

@testable import Appliance

@Suite struct ConfigValueTests {
    @Test(
        arguments: [
            ("300 ms", Duration.milliseconds(300)), ("300ms", .milliseconds(300)), ("10 s", .seconds(10)),
            ("1.5 s", .milliseconds(1500)), ("0.05 s", .milliseconds(50)), ("2 min", .seconds(120)),
            ("999999999 s", .seconds(999_999_999)), ("999999999 min", nil), ("300", nil), ("s", nil), ("-1 s", nil),
            ("1. s", nil),
            (".5 s", nil),
            ("1.2.3 s", nil), ("1e3 s", nil), ("1 h", nil), ("1 S", nil), ("9999999999 s", nil), ("1.2345 s", nil),
            ("", nil),
            ("٣ s", nil),
        ] as [(String, Duration?)])
    func aTimeIsANumberWithItsUnit(text: String, duration: Duration?) {
        #expect(ConfigValue.duration(text) == duration)
    }

    @Test(
        arguments: [
            ("0", 0), ("32000", 32_000), ("999999999", 999_999_999), ("9999999999", nil), ("-1", nil), ("+1", nil),
            ("1.0", nil),
            ("0x10", nil), ("", nil),
        ] as [(String, Int?)])
    func aWholeNumberIsDigitsOnly(text: String, number: Int?) {
        #expect(ConfigValue.wholeNumber(text) == number)
    }

    @Test(
        arguments: [
            ("yes", true), ("True", true), ("ON", true), ("no", false), ("false", false), ("off", false), ("1", nil),
            ("", nil),
        ] as [(String, Bool?)])
    func yesAndNoHaveThreeWordsEach(text: String, value: Bool?) {
        #expect(ConfigValue.yesOrNo(text) == value)
    }

    @Test func aListHasNamesBetweenCommas() {
        #expect(ConfigValue.list(" eth0,wlan0 , ,usb0") == ["eth0", "wlan0", "usb0"])
    }

    @Test(arguments: [
        ("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3), ("bitrate", "birtate", 1), ("ab", "ba", 1),
        ("abc", "ca", 3),
    ])
    func theEditDistanceCountsLetters(a: String, b: String, distance: Int) {
        #expect(ConfigValue.editDistance(a, b) == distance)
        #expect(ConfigValue.editDistance(b, a) == distance)
    }

    @Test func theNearestWordMustBeNear() {
        let words = ["bitrate", "complexity", "expected_loss"]
        #expect(ConfigValue.nearest(to: "Expected-Los", among: words) == "expected_loss")
        #expect(ConfigValue.nearest(to: "volume", among: words) == nil)
    }
}
