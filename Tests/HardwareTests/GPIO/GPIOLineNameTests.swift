import Testing

@testable import Hardware

@Suite struct GPIOLineNameTests {
    @Test(
        arguments: [
            ("GPIO17", .name("GPIO17")), ("Talk button", .name("Talk button")),
            ("gpiochip0:17", .offset(17, chip: "gpiochip0")),
            ("/dev/gpiochip12:3", .offset(3, chip: "gpiochip12")),
            ("pinctrl-bcm2835:17", .offset(17, chip: "pinctrl-bcm2835")),
            ("INT33FC:00:26", .offset(26, chip: "INT33FC:00")),
            (String(repeating: "n", count: 31), .name(String(repeating: "n", count: 31))),
        ] as [(String, GPIOLineName.Form)])
    func aNameOrAChipAndAnOffsetIsUnderstood(text: String, form: GPIOLineName.Form) throws {
        #expect(try #require(GPIOLineName(text)).form == form)
    }

    @Test(arguments: [
        "", " ", " GPIO17", "GPIO17 ", ":17", "gpiochip0:", "gpiochip0:-1", "gpiochip0:1 7", "gpiochip0:0x11",
        "gpiochip0:1234567890", "gpiochip0:١٧", "/dev/gpiochip0", "GPIO\n17", "a\u{7F}",
        String(repeating: "n", count: 32),
    ])
    func whatIsNeitherIsRefused(text: String) {
        #expect(GPIOLineName(text) == nil)
    }

    @Test(arguments: [("GPIO17", "GPIO17"), ("/dev/gpiochip0:017", "gpiochip0:17")])
    func itIsToldAsAnInstallerWritesIt(text: String, told: String) throws {
        #expect(try #require(GPIOLineName(text)).description == told)
    }
}
