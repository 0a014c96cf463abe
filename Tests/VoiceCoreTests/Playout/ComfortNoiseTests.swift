import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ComfortNoiseTests: PlayoutBench {
    /// Soft noise with more of the low tones than of the high ones.
    private func room(sampleCount: Int, amplitude: Int16, seed: UInt64 = 1) -> [Int16] {
        var last = 0.0
        return Sound.noise(sampleCount: sampleCount, seed: seed, amplitude: amplitude).map { sample in
            last += 0.2 * (Double(sample) - last)
            return Int16(last)
        }
    }

    private func meanSquare(_ pcm: some Sequence<Int16>) -> Double {
        var (sum, count) = (0.0, 0.0)
        for sample in pcm {
            sum += Double(sample) * Double(sample)
            count += 1
        }
        return count > 0 ? sum / count : 0
    }

    /// How alike neighbouring samples are: 0 for white noise.
    private func colour(_ pcm: [Int16]) -> Double {
        zip(pcm, pcm.dropFirst()).map { Double($0) * Double($1) }.reduce(0, +) / Double(pcm.count) / meanSquare(pcm)
    }

    private func noise(after pcm: [Int16], sampleCount: Int = 48_000) -> [Int16] {
        var noise = ComfortNoise()
        pcm.withUnsafeBufferPointer { pcm in
            for start in stride(from: 0, to: pcm.count - 959, by: 960) {
                let piece = UnsafeBufferPointer(rebasing: pcm[start..<start + 960])
                noise.learn(from: piece, isQuiet: Level.meanSquare(of: piece) < Level.silenceMeanSquare)
            }
        }
        var heard: [Int16] = []
        var frame = [Int16](repeating: 0, count: 480)
        while heard.count < sampleCount {
            frame.withUnsafeMutableBufferPointer {
                $0.update(repeating: 0)
                noise.mix(into: $0, gains: (1, 1))
            }
            heard += frame
        }
        return heard
    }

    @Test(arguments: [20, 60, 150] as [Int16]) func itHasTheColourOfTheRoomAndIsALittleSofter(amplitude: Int16) {
        let spoken = Sound.speechLike(sampleCount: 9600)
        let room = room(sampleCount: 48_000, amplitude: amplitude)
        let heard = noise(after: spoken + room)
        #expect(meanSquare(heard) < meanSquare(room))
        #expect(meanSquare(heard) > meanSquare(room) / 2)
        #expect(abs(colour(heard) - colour(room)) < 0.1)
    }

    @Test func theLastRoomCounts() {
        let heard = noise(
            after: room(sampleCount: 48_000, amplitude: 150) + Sound.speechLike(sampleCount: 9600)
                + room(sampleCount: 24_000, amplitude: 30, seed: 2))
        #expect(meanSquare(heard) < meanSquare(room(sampleCount: 24_000, amplitude: 30, seed: 2)))
    }

    @Test func silenceAndSpeechGiveNone() {
        #expect(noise(after: [Int16](repeating: 0, count: 48_000)).allSatisfy { $0 == 0 })
        #expect(noise(after: Sound.sine(hertz: 200, sampleCount: 48_000)).allSatisfy { $0 == 0 })
    }

    @Test func aPauseBetweenSentencesSoundsLikeTheRoom() throws {
        let background = room(sampleCount: 96_000, amplitude: 120)
        var pcm = Sound.speechLike(sampleCount: 96_000)
        for index in pcm.indices { pcm[index] = Int16(clamping: Int(pcm[index]) + Int(background[index])) }
        let end = room(sampleCount: 48_000, amplitude: 120, seed: 7)
        let packets = try Sound.encode(pcm + end, settings: OpusEncoderSettings(expectedLossPercent: 0))
        // Nothing more for 3 s: not a packet, and not a hole in the numbers either.
        let heard = try play(stream(packets), seconds: 6)
        let silent = heard.pcm[(400 * 480)..<(590 * 480)]
        #expect(heard.kinds[400..<590].allSatisfy { $0 == .comfortNoise })
        #expect(meanSquare(silent) < 1.05 * meanSquare(end))
        #expect(meanSquare(silent) > meanSquare(end) / 3)
        // No hole at the change: each 20 ms there is about as loud as the room.
        for start in stride(from: 290 * 480, to: 340 * 480, by: 960) {
            #expect(meanSquare(heard.pcm[start..<start + 960]) > meanSquare(end) / 8, "\(start / 480)")
        }
        #expect(heard.statistics.comfortNoiseFrameCount > 180)
    }

    @Test func whoDescribesTheRoomIsLeftToIt() throws {
        // After a second of soft noise, each 400 ms a packet of nothing but a table of contents, as an encoder with DTX sends.
        let spoken = try Sound.encode(
            room(sampleCount: 48_000, amplitude: 150), settings: OpusEncoderSettings(expectedLossPercent: 0))
        var arrivals = stream(spoken)
        for index in 0..<10 {
            let place = 50 + index * 20
            arrivals.append(
                PlayoutArrival(
                    milliseconds: 50 + Double(place) * 20, sequenceNumber: 65_500 &+ UInt16(50 + index),
                    timestamp: 0xFFFF_0000 &+ UInt32(place * 960), payload: [spoken[49][0]]))
        }
        let heard = try play(arrivals, seconds: 4.9)
        #expect(heard.kinds[110..<480].allSatisfy { $0 == .comfortNoise || $0 == .decoded })
        #expect(heard.statistics.underrunCount == 0)
        #expect(heard.statistics.lostCount == 0)
        #expect(heard.count(.concealed) == 0)
    }
}
