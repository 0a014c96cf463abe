import Testing

@testable import Appliance

@Suite struct ButtonScriptTests {
    @Test func stepsAreReadInTheirOrder() throws {
        let text = "# a visit\nawait ready\npress # and hold\r\nafter 1.5\nrelease\nawait first_sound 5\n\nquit\n"
        let expected: [ButtonScript.Step] = [
            .await(.ready, limit: .seconds(20)), .press, .after(.milliseconds(1500)), .release,
            .await(.firstSound, limit: .seconds(5)), .quit,
        ]
        #expect(try ButtonScript(parsing: Array(text.utf8)).steps == expected)
    }

    @Test(arguments: ["push", "after", "after x", "after -1", "await", "await lunch", "await ready x", "press 1"])
    func whatIsNoStepIsNamedWithItsLine(line: String) throws {
        let error = try #require(
            thrown(ConfigProblem.self) {
                try ButtonScript(parsing: Array("press\n\(line)\n".utf8))
            })
        #expect(error.line == 2)
        #expect(error.what.contains(line))
    }

    @Test func mutatedScriptsNeverTrap() {
        let original = Array("await ready\npress\nafter 1.5\nrelease\nawait first_sound 5\nquit\n".utf8)
        var random = SeededBytes(seed: 3)
        var refused = 0
        for _ in 0..<5000 {
            var bytes = original
            for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
            if (try? ButtonScript(parsing: bytes)) == nil { refused += 1 }
        }
        #expect(refused > 3000)
    }
}
