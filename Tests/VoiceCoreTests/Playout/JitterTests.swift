import Testing

@testable import Support
@testable import VoiceCore

@Suite struct JitterTests: PlayoutBench {
    /// A minute of sound that arrives 60 ms late in the mean, spread normally by 30 ms.
    private func arrivals(inOrder: Bool, seed: UInt64) throws -> [PlayoutArrival] {
        let packets = try Sound.encode(
            Sound.speechLike(sampleCount: 2_880_000), settings: OpusEncoderSettings(expectedLossPercent: 0))
        var entropy = Entropy.seeded(seed)
        var last = 0.0
        return stream(packets) { index in
            let normal = (0..<12).map { _ in Double.random(in: 0..<1, using: &entropy) }.reduce(0, +) - 6
            let sent = Double(index) * 20
            let arrival = sent + max(0, 60 + 30 * normal)
            last = max(last, arrival)
            return (inOrder ? last : arrival) - sent
        }
    }

    /// In order no longer than libwebrtc's NetEQ on such a line (94 ms); where packets overtake each other it waits 91 ms, and we a little more.
    @Test(arguments: [(true, 94), (false, 98)]) func anUnevenLineIsWaitedForBriefly(
        inOrder: Bool, milliseconds: Int
    ) throws {
        var waits: [Duration] = []
        for seed in [1, 2, 3] as [UInt64] {
            let heard = try play(try arrivals(inOrder: inOrder, seed: seed), seconds: 59)
            let settled = heard.kinds.dropFirst(1000)
            let invented = settled.filter { $0 == .concealed }.count
            #expect(Double(invented) < 0.01 * Double(settled.count), "seed \(seed): \(invented) frames")
            #expect(heard.statistics.lateCount < 30)
            waits.append(heard.statistics.meanWait)
        }
        let mean = waits.reduce(.zero, +) / 3
        #expect(mean <= .milliseconds(milliseconds), "\(waits)")
    }
}
