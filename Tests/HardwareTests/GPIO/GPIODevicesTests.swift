import Glibc
import Testing

@testable import Hardware

@Suite struct GPIODevicesTests {
    @Test func chipsAreFoundInTheOrderOfTheirNumbersAndALinkIsNoChip() throws {
        var template = Array("/tmp/talkpost-gpio-XXXXXX".utf8CString)
        let folder = String(cString: try #require(mkdtemp(&template)))
        let files = ["gpiochip10", "gpiochip2", "gpiochip0", "gpiochip", "gpiochipA", "gpiomem"]
        defer {
            for name in files + ["gpiochip4"] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        for name in files { close(creat("\(folder)/\(name)", 0o600)) }
        try #require(symlink("gpiochip0", "\(folder)/gpiochip4") == 0)

        #expect(GPIODevices.names(in: folder) == ["gpiochip0", "gpiochip2", "gpiochip10"])
        #expect(GPIODevices.target(of: "gpiochip4", in: folder) == "gpiochip0")
        #expect(GPIODevices.target(of: "gpiochip0", in: folder) == nil)
        #expect(GPIODevices.names(in: "\(folder)/missing").isEmpty)
    }

    @Test func aLinkIsFollowedToItsChip() throws {
        let line = try #require(GPIOLineName("gpiochip4:17"))
        #expect(line.following { $0 == "gpiochip4" ? "gpiochip0" : nil }.description == "gpiochip0:17")
        #expect(line.following { _ in nil } == line)
    }
}
