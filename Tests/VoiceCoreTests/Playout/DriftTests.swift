import Glibc
import Testing

@testable import Support
@testable import VoiceCore

@Suite struct DriftTests {
    /// Minutes of a call; in six, clocks that differ by 200 ppm come apart by 72 ms. `TALKPOST_DRIFT_MINUTES=60 swift test --filter Drift` plays an
    /// hour, which takes a minute or two.
    private let minutes = getenv("TALKPOST_DRIFT_MINUTES").flatMap { Int(String(cString: $0)) } ?? 6

    /// A call between clocks that differ: each second of the sender's is a little longer or shorter than one of ours or of the card's.
    @Test(arguments: [(200.0, 0.0), (-200, 0), (0, 200), (0, -200)])
    func aCallOnUnequalClocksKeepsItsDelay(sender: Double, card: Double) throws {
        let packets = try Sound.encode(
            Sound.speechLike(sampleCount: 48_000), settings: OpusEncoderSettings(expectedLossPercent: 0))
        var playout = try Playout()
        var frame = [Int16](repeating: 0, count: 480)
        var sent = 0
        var (least, most) = (Double.infinity, 0.0)
        var concealed = 0
        for pull in 0..<minutes * 6_000 {
            let now = 3.0 + Double(pull) * 10 * (1 + card / 1e6)
            while 50 + Double(sent) * 20 * (1 + sender / 1e6) <= now {
                packets[sent % packets.count].withUnsafeBytes {
                    playout.insert(
                        payload: $0, ssrc: 1, sequenceNumber: UInt16(truncatingIfNeeded: sent),
                        timestamp: UInt32(truncatingIfNeeded: sent * 960),
                        arrivedAt: Instant(nanoseconds: Int64((50 + Double(sent) * 20 * (1 + sender / 1e6)) * 1e6)))
                }
                sent += 1
            }
            let kind = frame.withUnsafeMutableBufferPointer {
                playout.next(into: $0, at: Instant(nanoseconds: Int64(now * 1e6)))
            }
            if kind == .concealed { concealed += 1 }
            // Once the first pause has set the delay.
            guard pull >= 200 else { continue }
            let delay = playout.statistics.delay.inSeconds * 1000
            (least, most) = (min(least, delay), max(most, delay))
        }
        let statistics = playout.statistics
        #expect(concealed == 0)
        #expect(statistics.underrunCount == 0)
        #expect(most - least <= 5, "\(least) to \(most) ms")
        #expect(most <= 20)
        #expect(abs(statistics.drift - (sender - card)) < 20, "\(statistics.drift) ppm")
        let wanted = Int(abs(sender - card) * 1e-6 * 48_000 * 60 * Double(minutes))
        let slipped = statistics.slippedInSampleCount - statistics.slippedOutSampleCount
        let stretched = statistics.lengthenings.sampleCount - statistics.shortenings.sampleCount
        // The first pause sets the delay by 10 ms, whatever the clocks do.
        #expect(abs(abs(slipped + stretched) - wanted) < wanted / 10 + 480)
    }
}
