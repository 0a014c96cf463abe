import Testing

@testable import Support
@testable import VoiceCore

@Suite struct TimeStretchTests {
    /// Sound with its history before it and room behind it, stretched as often as asked.
    private func stretched(_ pcm: [Int16], change: Int, times: Int, likeness: Float) -> (pcm: [Int16], change: Int) {
        var queue = PCMQueue(capacity: 4000)
        let stretch = TimeStretch()
        var out: [Int16] = []
        var total = 0
        var frame = [Int16](repeating: 0, count: 480)
        for (index, start) in stride(from: 0, to: pcm.count - 959, by: 960).enumerated() {
            let room = queue.room()
            for offset in 0..<960 { room[offset] = pcm[start + offset] }
            queue.append(sampleCount: 960)
            if index >= 4, index < 4 + times {
                total += queue.stretch(by: change, likeness: likeness, with: stretch)
            }
            while queue.count >= 480 {
                frame.withUnsafeMutableBufferPointer { queue.take(into: $0) }
                out += frame
            }
        }
        return (out, total)
    }

    /// How often it crosses zero upwards in a second.
    private func pitch(_ pcm: ArraySlice<Int16>) -> Double {
        let crossings = zip(pcm, pcm.dropFirst()).filter { $0.0 < 0 && $0.1 >= 0 }.count
        return Double(crossings) * 48_000 / Double(pcm.count)
    }

    private func energy(_ pcm: ArraySlice<Int16>) -> Double {
        pcm.map { Double($0) * Double($0) }.reduce(0, +) / Double(pcm.count)
    }

    @Test(arguments: [110.0, 220, 440, 997], [-700, 700]) func aToneKeepsItsPitchAndItsLevel(
        hertz: Double, change: Int
    ) {
        let tone = Sound.sine(hertz: hertz, sampleCount: 96_000)
        let (heard, total) = stretched(tone, change: change, times: 60, likeness: 0.95)
        #expect(abs(total) > 60 * 240)
        #expect((total > 0) == (change > 0))
        let (before, after) = (tone[4800..<90_000], heard[4800..<min(60_000, heard.count)])
        #expect(abs(pitch(after) - pitch(before)) < 0.01 * hertz)
        #expect(abs(energy(after) / energy(before) - 1) < 0.03)
        // No click: no step is larger than the tone's own largest.
        let steps = zip(after, after.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
        let own = zip(before, before.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(Double(steps) < 1.2 * Double(own) + 2)
    }

    @Test(arguments: [-700, 700]) func aVoiceKeepsItsPitchAndItsLevel(change: Int) {
        let voice = Array(Sound.speechLike(sampleCount: 9600))
        let long = (0..<10).flatMap { _ in voice[2000..<7760] }
        let (heard, total) = stretched(long, change: change, times: 20, likeness: 0.85)
        #expect(abs(total) > 2000)
        #expect(abs(energy(heard[9600...]) / energy(long[9600...]) - 1) < 0.1)
        #expect(abs(pitch(heard[9600...]) / pitch(long[9600...]) - 1) < 0.03)
    }

    @Test func noiseIsLeftAloneUnlessItMayBeTouched() {
        let noise = Sound.noise(sampleCount: 48_000, seed: 4)
        #expect(stretched(noise, change: -700, times: 40, likeness: 0.85).change == 0)
        #expect(stretched(noise, change: -700, times: 40, likeness: -1).change < -40 * 240 + 1)
    }

    @Test(arguments: [-700, -350, 350, 700]) func itChangesNoMoreThanItMay(change: Int) {
        let tone = Sound.sine(hertz: 300, sampleCount: 48_000)
        let (heard, total) = stretched(tone, change: change, times: 1, likeness: 0.9)
        #expect(abs(total) <= abs(change) && abs(total) >= 240)
        #expect((48_000 + total) / 480 * 480 == heard.count)
        #expect(stretched(tone, change: change / abs(change) * 200, times: 1, likeness: 0.9).change == 0)
    }

    @Test(arguments: [479, 481]) func oneSampleMoreOrLessIsNotHeard(taken: Int) {
        var queue = PCMQueue(capacity: 2000)
        var heard: [Int16] = []
        var frame = [Int16](repeating: 0, count: 480)
        let tone = Sound.sine(hertz: 1000, sampleCount: 480_000)
        var place = 0
        for _ in 0..<900 {
            while queue.count < 490 {
                let room = queue.room()
                for offset in 0..<480 { room[offset] = tone[place + offset] }
                queue.append(sampleCount: 480)
                place += 480
            }
            frame.withUnsafeMutableBufferPointer { queue.take(taken, into: $0) }
            heard += frame
        }
        let expected = 1000 * Double(taken) / 480
        #expect(abs(pitch(heard[...]) - expected) < 1)
        let steps = zip(heard, heard.dropFirst()).map { abs(Int($0) - Int($1)) }.max() ?? 0
        #expect(steps < 1_400)  // a tone of 1000 Hz at 10,000 steps by 1,309 at most
    }
}
