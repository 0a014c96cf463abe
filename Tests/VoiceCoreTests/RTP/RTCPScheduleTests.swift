import Testing

@testable import Support
@testable import VoiceCore

@Suite struct RTCPScheduleTests {
    private let start = Instant(nanoseconds: 0)

    /// RFC 3550 6.3.1: between 0.5 and 1.5 times the interval, divided by e - 3/2.
    private func bounds(_ seconds: Double) -> ClosedRange<Double> {
        seconds * 0.5 / 1.21829...seconds * 1.5 / 1.21827
    }

    /// Bandwidth, whether the minimum is reduced, the size of reports, and the interval before it is spread.
    @Test(arguments: [
        (64_000, false, 100, 5.0),
        (32_000, true, 100, 5.0),  // 360 / 32 is more than 5
        (100_000, true, 100, 3.6),
        (360_000, true, 100, 1.0),
        (2_000, false, 100, 20.48),  // the bandwidth decides
        (0, false, 100, 40.96),
    ])
    func intervalsStayWithinTheirBounds(bitsPerSecond: Int, isReduced: Bool, byteCount: Int, seconds: Double) {
        var schedule = RTCPSchedule(
            bitsPerSecond: bitsPerSecond, usesReducedMinimum: isReduced, entropy: .seeded(1), at: start)
        var now = start
        var intervals: [Double] = []
        for _ in 0..<500 {
            schedule.sent(byteCount: byteCount, at: now)
            intervals.append((schedule.deadline - now).inSeconds)
            now = schedule.deadline
        }
        #expect(intervals.allSatisfy { bounds(seconds).contains($0 + 0.0005) || bounds(seconds).contains($0) })
        let mean = intervals.reduce(0, +) / 500
        #expect(abs(mean - seconds / 1.21828) < seconds * 0.05)
        #expect(Set(intervals).count > 200)
    }

    @Test func theFirstReportComesAfterHalfTheTime() {
        for seed in 1...50 {
            let schedule = RTCPSchedule(
                bitsPerSecond: 64_000, usesReducedMinimum: false, entropy: .seeded(UInt64(seed)), at: start)
            #expect(bounds(2.5).contains((schedule.deadline - start).inSeconds + 0.0005))
        }
    }

    @Test func largeReportsOfTheFarEndSlowOursDown() {
        var schedule = RTCPSchedule(
            bitsPerSecond: 64_000, usesReducedMinimum: false, entropy: .seeded(1), at: start)
        for _ in 0..<200 { schedule.received(byteCount: 1172) }
        schedule.sent(byteCount: 1172, at: start)
        // 2 members, 1200 bytes with the lower headers, 400 bytes a second.
        #expect(bounds(6).contains((schedule.deadline - start).inSeconds))
    }
}
