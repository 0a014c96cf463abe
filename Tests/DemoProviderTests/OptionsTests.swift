import Testing

@testable import DemoProvider

@Suite struct OptionsTests {
    @Test func everyOptionIsTaken() throws {
        let line = "--listen [::1]:0 --record a-{call}.wav --repeat-after 1.5 --speak b.wav --loopback --interfaces a,b"
        let command = try Options.read(
            (line + " --fail 401 --fail-close slow:2 --events - --kind whip").split(separator: " ").map { String($0) })
        var expected = Options()
        expected.host = "::1"
        expected.port = 0
        expected.recording = "a-{call}.wav"
        expected.repeatAfter = .milliseconds(1500)
        expected.speech = "b.wav"
        expected.offersLoopback = true
        expected.interfaces = ["a", "b"]
        expected.startFailure = .invalidToken
        expected.closeFailure = .slow(.seconds(2))
        expected.events = "-"
        expected.kind = .whip
        #expect(command == .serve(expected))
    }

    @Test(arguments: [
        "--nix", "--listen", "--listen x", "--listen h:70000", "--repeat-after nan", "--repeat-after 0", "--fail nix",
        "--fail slow:", "--fail slow:-1", "--kind nix",
    ])
    func aMistakeIsNamed(line: String) {
        #expect(throws: Options.Mistake.self) { try Options.read(line.split(separator: " ").map { String($0) }) }
    }

    @Test func everyKindInTheHelpIsKnownByNameAndStatus() {
        for row in Failure.table {
            let name = row.name == "slow:SECONDS" ? "slow:1" : row.name
            #expect(Failure(name) != nil, "\(name)")
            if let status = row.status { #expect(Failure(status) == Failure(name)) }
        }
    }
}
