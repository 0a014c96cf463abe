import Testing

@testable import Hardware

@Suite struct FillLevelTests {
    @Test(arguments: [(5, 20), (10, 20), (21, 31), (85, 95)])
    func theLeastIsOnePeriodAndAFrame(periodMilliseconds: Int, leastMilliseconds: Int) {
        let level = FillLevel(period: .milliseconds(periodMilliseconds), at: .zero)
        #expect(level.target == .milliseconds(leastMilliseconds))
    }

    @Test func eachUnderrunAddsAStepUpToTheMost() {
        var level = FillLevel(period: .milliseconds(10), at: .zero)
        var targets: [Duration] = []
        for second in 1...8 {
            level.underran(at: .seconds(second))
            targets.append(level.target)
        }
        #expect(targets == [30, 40, 50, 60, 70, 80, 80, 80].map { .milliseconds($0) })
    }

    @Test func calmTakesTheStepsBack() {
        var level = FillLevel(period: .milliseconds(10), at: .zero)
        level.underran(at: .seconds(1))
        level.underran(at: .seconds(2))
        #expect(level.wrote(at: .seconds(21)) == false)
        #expect(level.wrote(at: .seconds(22)) == true)
        #expect(level.target == .milliseconds(30))
        #expect(level.wrote(at: .seconds(23)) == false)
        #expect(level.wrote(at: .seconds(42)) == true)
        #expect(level.wrote(at: .seconds(100)) == false)
        #expect(level.target == .milliseconds(20))
    }

    @Test func aCardOfLongPeriodsIsNotPressedBelowItsLeast() {
        var level = FillLevel(period: .milliseconds(100), at: .zero)
        level.underran(at: .zero)
        #expect(level.target == .milliseconds(110))
    }
}
