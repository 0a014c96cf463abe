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
}
