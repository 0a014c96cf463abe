import Testing

@testable import Appliance

@Suite struct InvocationTests {
    @Test(
        arguments: [
            ("run --config a.conf", .run(config: "a.conf", events: nil)),
            ("run --events - --config=a.conf", .run(config: "a.conf", events: "-")),
            ("check --config a.conf", .check(config: "a.conf")),
            ("led-muted --config a.conf", .ledMuted(config: "a.conf")), ("--version", .version), ("--help", .help),
        ] as [(String, Invocation)])
    func whatIsAskedForIsUnderstood(line: String, invocation: Invocation) throws {
        #expect(try Invocation(line.split(separator: " ").map(String.init)) == invocation)
    }

    @Test(arguments: [
        ("", "Nothing is asked for"), ("run", "--config FILE is missing"), ("run --config", "needs a FILE"),
        ("run --config=", "needs a FILE"), ("chekc --config a", "did you mean check?"),
        ("check --config a --events b", "\"--events\" is not understood"),
        ("--version now", "\"now\" is not understood"),
    ])
    func whatIsNotUnderstoodIsNamed(line: String, why: String) throws {
        let error = try #require(
            thrown(Invocation.Misunderstood.self) {
                try Invocation(line.split(separator: " ").map(String.init))
            })
        #expect(error.description.contains(why))
    }
}
