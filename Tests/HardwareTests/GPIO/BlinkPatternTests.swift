import Testing

@testable import Hardware

@Suite struct BlinkPatternTests {
    @Test func darknessHasNoTurns() {
        #expect(BlinkPattern.off.turns.isEmpty)
    }

    @Test(arguments: [
        (BlinkPattern.on, [0, 999, 1000, 5000], [true, true, true, true]),
        (.off, [0, 1000], [false, false]),
        (
            BlinkPattern(turns: [.milliseconds(100), .milliseconds(400)]), [-5, 0, 99, 100, 499, 500, 599, 600],
            [true, true, true, false, false, true, true, false]
        ),
        (BlinkPattern(turns: [.zero, .zero]), [0], [false]),
    ])
    func thePatternRepeats(pattern: BlinkPattern, milliseconds: [Int], lit: [Bool]) {
        #expect(milliseconds.map { pattern.isLit(after: .milliseconds($0)) } == lit)
    }

    @Test(
        arguments: [
            (BlinkPattern.on, [0, 999], [nil, nil]), (.off, [0], [nil]),
            (
                BlinkPattern(turns: [.milliseconds(100), .milliseconds(400)]), [-5, 0, 99, 100, 499, 500],
                [100, 100, 1, 400, 1, 100]
            ),
            (BlinkPattern(turns: [.zero, .zero]), [0], [nil]),
        ] as [(BlinkPattern, [Int], [Int?])])
    func theNextTurnIsKnownAndSteadyLightHasNone(pattern: BlinkPattern, milliseconds: [Int], rest: [Int?]) {
        let expected = rest.map { $0.map { Duration.milliseconds($0) } }
        #expect(milliseconds.map { pattern.nextTurn(after: .milliseconds($0)) } == expected)
    }
}
