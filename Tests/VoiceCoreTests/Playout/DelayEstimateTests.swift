import Testing

@testable import Support
@testable import VoiceCore

@Suite struct DelayEstimateTests {
    /// What is asked for, in milliseconds, after packets of 20 ms that are as late as told.
    private func target(after lateness: [Double]) -> Double {
        var estimate = DelayEstimate()
        for (index, late) in lateness.enumerated() {
            _ = estimate.record(
                timestamp: Int64(index) * 960, arrival: 1_000_000 + Int64(index) * 960 + Int64(late * 48))
        }
        return Double(estimate.target) / 48
    }

    private func random(_ count: Int, seed: UInt64, _ draw: (inout Entropy) -> Double) -> [Double] {
        var entropy = Entropy.seeded(seed)
        return (0..<count).map { _ in draw(&entropy) }
    }

    /// The sum of twelve numbers between 0 and 1 is nearly normal, with a deviation of 1.
    private func normal(_ entropy: inout Entropy) -> Double {
        (0..<12).map { _ in Double.random(in: 0..<1, using: &entropy) }.reduce(0, +) - 6
    }

    @Test func aSteadyLineAsksForNextToNothing() {
        #expect(target(after: Array(repeating: 0, count: 100)) == 2.5)
        #expect(target(after: []) == 0)
    }

    @Test func oneLatePacketInAHundredIsNotWaitedFor() {
        for spike in [30.0, 90, 400] {
            #expect(target(after: (0..<1000).map { $0 % 100 == 99 ? spike : 0 }) <= 2.5)
        }
    }

    @Test func normalJitterIsCoveredToNearlyAll() {
        for (deviation, seed) in [(10.0, 1), (30, 2)] as [(Double, UInt64)] {
            let lateness = random(3000, seed: seed) { max(0, 60 + deviation * normal(&$0)) }
            let asked = target(after: lateness)
            let base = lateness.suffix(384).min() ?? 0
            let inTime = lateness.suffix(1000).filter { $0 - base <= asked }.count
            #expect(inTime >= 975 && asked <= 6 * deviation, "\(deviation): \(asked) ms, \(inTime)")
        }
    }

    @Test func whatWasLearntIsForgottenOnceTheLineIsQuiet() {
        let jittery = random(500, seed: 3) { Double.random(in: 0..<80, using: &$0) }
        #expect(target(after: jittery) > 60)
        #expect(target(after: jittery + Array(repeating: 0, count: 3000)) < 10)
    }

    /// Every `period` packets the network stands still for 300 ms and then gives what it held up at once.
    private func standstills(each period: Int, count: Int) -> [Double] {
        (0..<count).map { index in
            let since = index % period
            return since >= period - 15 ? Double(period - since) * 20 : 0
        }
    }

    @Test func aNetworkThatOftenStandsStillIsWaitedForAndOnceIsNot() {
        #expect(target(after: standstills(each: 50, count: 2000)) >= 250)
        #expect(target(after: standstills(each: 1500, count: 1600)) < 10)
    }

    @Test func aSenderThatPausesWithoutCountingOnIsNotLate() {
        var estimate = DelayEstimate()
        var lines = 0
        for index in 0..<1000 {
            // After each 100 packets nothing for 3 s, and the timestamps go on as if there had been none.
            let arrival = Int64(index) * 960 + Int64(index / 100) * 144_000
            if estimate.record(timestamp: Int64(index) * 960, arrival: arrival) { lines += 1 }
        }
        #expect(lines == 10)
        #expect(estimate.target == 120)
    }
}
