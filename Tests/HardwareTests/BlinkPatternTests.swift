import Testing

@testable import Hardware

@Suite struct BlinkPatternTests {
    @Test func darknessHasNoTurns() {
        #expect(BlinkPattern.off.turns.isEmpty)
    }
}
