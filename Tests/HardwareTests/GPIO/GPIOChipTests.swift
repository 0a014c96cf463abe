import Testing

@testable import Hardware

@Suite struct GPIOChipTests {
    private static let header = GPIOChip(
        name: "gpiochip0", label: "pinctrl-test",
        lines: [.init(name: "ID_SDA"), .init(name: "GPIO17", consumer: "lamp"), .init(), .init(name: "TWICE")])
    private static let expander = GPIOChip(
        name: "gpiochip10", label: "expander", lines: [.init(), .init(name: "TWICE")])
    private static let twin = GPIOChip(name: "gpiochip11", label: "expander", lines: [.init()])

    private func place(_ text: String, in chips: [GPIOChip]) throws -> GPIOPlace {
        let name = try #require(GPIOLineName(text))
        return try GPIOChip.place(of: name, in: chips)
    }

    @Test(
        arguments: [
            ("GPIO17", "gpiochip0", 1), ("gpiochip0:2", "gpiochip0", 2), ("pinctrl-test:0", "gpiochip0", 0),
            ("gpiochip10:1", "gpiochip10", 1), ("expander:1", "gpiochip10", 1),
        ] as [(String, String, Int)])
    func aLineIsFoundByItsNameItsChipOrItsLabel(text: String, chip: String, offset: Int) throws {
        #expect(try place(text, in: [Self.header, Self.expander]) == GPIOPlace(chip: chip, offset: offset))
    }

    @Test(
        arguments: [
            ("GPIO18", .noSuchLine("GPIO18", [header, expander, twin])),
            ("gpiochip1:0", .noSuchChip("gpiochip1", [header, expander, twin])),
            ("gpiochip0:4", .noSuchOffset(4, header)),
            ("TWICE", .ambiguous("TWICE", ["gpiochip0:3", "gpiochip10:1"])),
            ("expander:0", .ambiguous("expander:0", ["gpiochip10:0", "gpiochip11:0"])),
        ] as [(String, GPIOError)])
    func aLineThatIsNotThereIsAnErrorOfItsKind(text: String, error: GPIOError) throws {
        #expect(throws: error) { try place(text, in: [Self.header, Self.expander, Self.twin]) }
    }

    @Test func withoutAChipThatIsTheError() {
        #expect(throws: GPIOError.noChips) { try place("GPIO17", in: []) }
    }

    @Test func theCatalogueTellsChipsLabelsAndLines() {
        #expect(
            GPIOChip.catalogue([Self.header, Self.twin])
                == "gpiochip0 (pinctrl-test, 4 lines): ID_SDA, GPIO17, TWICE; gpiochip11 (expander, 1 line) without names"
        )
    }

    @Test func theCatalogueOfABigMachineFitsALogLine() {
        let lines = (0..<200).map { GPIOChip.Line(name: "GPIO\($0)") }
        let chips = (0..<3).map { GPIOChip(name: "gpiochip\($0)", label: "big", lines: lines) }
        #expect(GPIOChip.catalogue(chips).utf8.count < 1900)
    }
}
