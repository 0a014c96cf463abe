import Testing

@testable import Appliance

@Suite struct TerminalLEDTests {
    @Test(arguments: [
        (-100.0, "············"), (-60, "············"), (-30, "▮▮▮▮▮▮······"), (0, "▮▮▮▮▮▮▮▮▮▮▮▮"),
        (3, "▮▮▮▮▮▮▮▮▮▮▮▮"),
    ])
    func aBarHasTwelveCellsFor60DB(decibels: Double, bar: String) {
        #expect(TerminalLED.bar(decibels) == bar)
    }

    @Test func theLineFitsATerminal() {
        var picture = TerminalLED.Picture(state: "disconnected", led: .fault(.microphoneDenied))
        picture.levels = SoundMeter.Reading(microphoneDBFS: 0, speakerDBFS: 0)
        #expect(TerminalLED.line(picture, isLit: false).count < 80)
    }
}
