import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ExpectedLossTests {
    private func percents(_ reports: [Double], least: Int = 0) -> [Int] {
        var expected = ExpectedLoss(leastPercent: least, bitsPerSecond: 32_000)
        return reports.map {
            _ = expected.report(lost: $0)
            return expected.percent
        }
    }

    @Test func aCleanLineHasNoCopiesAndChanceDoesNotBringThem() {
        #expect(percents([0, 0.004, 0.008, 0, 0.012, 0]) == [0, 0, 0, 0, 0, 0])
    }

    @Test func oneBadReportBringsThemAndThreeGoodOnesTakeThemBack() {
        #expect(percents([0, 0.05, 0, 0.004, 0, 0]) == [0, 10, 10, 10, 0, 0])
        #expect(percents([0.05, 0, 0, 0.03, 0, 0]) == [10, 10, 10, 10, 10, 10])
    }

    @Test func moreLossIsFollowedAtOnceAndLessSlowly() {
        #expect(percents([0.05, 0.15, 0.4]) == [10, 20, 30])
        #expect(percents([0.25, 0.19, 0.19, 0.19]) == [30, 30, 30, 30])
        #expect(percents([0.25] + Array(repeating: 0.05, count: 8)).last == 10)
        // To and fro about a bound: one change.
        let reports = (0..<20).map { index in index % 2 == 0 ? 0.11 : 0.09 }
        #expect(Set(percents(reports)) == [20])
    }

    @Test func copiesGetBitsOfTheirOwn() {
        var expected = ExpectedLoss(leastPercent: 0, bitsPerSecond: 32_000)
        #expect(expected.bitsPerSecond == 32_000)
        let changes = [0.1, 0.1].map { expected.report(lost: $0) }
        #expect(changes == [true, false])
        #expect(expected.bitsPerSecond == 48_000)
        for _ in 0..<3 { _ = expected.report(lost: 0) }
        #expect(expected.bitsPerSecond == 32_000)
        var large = ExpectedLoss(leastPercent: 0, bitsPerSecond: 128_000)
        _ = large.report(lost: 1)
        #expect(large.bitsPerSecond == 128_000)
    }

    @Test func whatIsSetIsExpectedAtLeast() {
        #expect(percents([0, 0.05, 0.15, 0], least: 15) == [15, 15, 20, 20])
    }

    @Test func theEncoderFollows() throws {
        let speech = Sound.speechLike(sampleCount: 96_000)
        var expected = ExpectedLoss(leastPercent: 0, bitsPerSecond: 32_000)
        var encoder = try OpusEncoder(OpusEncoderSettings(expectedLossPercent: expected.percent))
        let clean = try Sound.encode(speech, with: &encoder)
        #expect(clean.filter { Sound.hasFEC($0) }.isEmpty)
        _ = expected.report(lost: 0.1)
        encoder.follow(expected)
        let lossy = try Sound.encode(speech, with: &encoder)
        #expect(lossy.filter { Sound.hasFEC($0) }.count > 50)
        let (before, after) = (clean.map(\.count).reduce(0, +), lossy.map(\.count).reduce(0, +))
        #expect(after > before * 5 / 4)
    }
}
