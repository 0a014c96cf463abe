import Glibc
import Testing

@testable import Hardware

@Suite struct GPIOErrorTests {
    private static let chip = GPIOChip(name: "gpiochip0", label: "pins", lines: [.init(name: "GPIO17")])

    @Test(
        arguments: [
            (.noChips, ["/dev/gpiochip*", "driver"]),
            (
                .noSuchLine("gpio17", [chip]),
                ["no GPIO line gpio17", "did you mean GPIO17?", "gpiochip0 (pins, 1 line)"]
            ),
            (.noSuchChip("pinz", [chip]), ["no GPIO chip pinz", "gpiochip0 (pins, 1 line): GPIO17"]),
            (.noSuchOffset(1, chip), ["gpiochip0 (pins)", "no line 1", "from 0 to 0"]),
            (.ambiguous("A", ["gpiochip0:1", "gpiochip1:1"]), ["Several", "name one of gpiochip0:1, gpiochip1:1"]),
            (.busy(line: "GPIO17", consumer: "lamp"), ["GPIO17 is in use by lamp", "end that use"]),
            (.busy(line: "GPIO17", consumer: ""), ["GPIO17 is in use:"]),
            (.notPermitted(device: "/dev/gpiochip0", group: "gpio"), ["/dev/gpiochip0", "SupplementaryGroups=gpio"]),
            (.notPermitted(device: "/dev/gpiochip0", group: nil), ["right to read and write"]),
            (.forbidden(device: "/dev/gpiochip0"), ["DeviceAllow=char-gpiochip rw"]),
            (.refused(line: "GPIO17", what: "set up", code: EINVAL), ["cannot be set up", "Invalid argument", "bias"]),
            (.refused(line: "GPIO17", what: "read", code: EIO), ["cannot be read", "kernel's log"]),
            (.gone(line: "GPIO17"), ["chip of the line GPIO17 is gone", "plug"]),
        ] as [(GPIOError, [String])])
    func eachSaysWhatIsWrongAndWhatToDo(error: GPIOError, parts: [String]) {
        for part in parts { #expect(error.description.contains(part)) }
        #expect(error.description.hasSuffix("."))
    }
}
