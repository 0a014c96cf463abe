import Glibc
import Testing

@testable import Appliance

@Suite struct WAVAudioTests {
    /// A WAV file of 16-bit samples, its header as given.
    static func file(
        _ samples: [Int16], rate: Int = 48_000, channelCount: Int = 1, kind: Int = 1, claimedByteCount: Int? = nil
    ) -> [UInt8] {
        func bytes(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        func chunk(_ tag: String, _ body: [UInt8], claimed: Int? = nil) -> [UInt8] {
            Array(tag.utf8) + bytes(claimed ?? body.count, 4) + body
        }
        var format = bytes(kind, 2)
        format += bytes(channelCount, 2)
        format += bytes(rate, 4)
        format += bytes(rate * 2 * channelCount, 4)
        format += bytes(2 * channelCount, 2)
        format += bytes(16, 2)
        if kind == 0xFFFE {
            format += bytes(22, 2)
            format += [16, 0, 0, 0, 0, 0, 1, 0]
            format += [UInt8](repeating: 0, count: 14)
        }
        var chunks = Array("WAVE".utf8) + chunk("fmt ", format)
        // A chunk of odd length, with its filling byte, as editors leave them.
        chunks += chunk("LIST", [1, 2, 3]) + [0]
        chunks += chunk("data", samples.flatMap { bytes(Int($0), 2) }, claimed: claimedByteCount)
        return chunk("RIFF", chunks)
    }

    @Test func soundOf48000HzIsTakenAsItIs() throws {
        let samples: [Int16] = [0, 1, -1, .max, .min]
        #expect(try WAVAudio(parsing: Self.file(samples)).samples == samples)
        #expect(try WAVAudio(parsing: Self.file(samples, kind: 0xFFFE)).samples == samples)
    }

    @Test func channelsAreAveraged() throws {
        let audio = try WAVAudio(parsing: Self.file([100, 200, .min, .min, .max, .max, -7, 7], channelCount: 2))
        #expect(audio.samples == [150, .min, .max, 0])
    }

    @Test(arguments: [0, 0xFFFF_FFFF, 1000])
    func aLengthThatWasNeverFilledInMeansTheRest(claimed: Int) throws {
        #expect(try WAVAudio(parsing: Self.file([1, 2, 3], claimedByteCount: claimed)).samples == [1, 2, 3])
    }

    @Test(arguments: [8000, 16_000, 22_050, 24_000, 44_100, 96_000])
    func anyRateBecomes48000HzAndKeepsItsTone(rate: Int) throws {
        let tone = (0..<rate / 4).map { Int16(12_000 * sin(2 * .pi * 1000 * Double($0) / Double(rate))) }
        let samples = try WAVAudio(parsing: Self.file(tone, rate: rate)).samples
        #expect((11_998...12_000).contains(samples.count))
        // Away from the ends, every sample is where the tone has it.
        let worst = (1000..<11_000).map { index in
            abs(Double(samples[index]) - 12_000 * sin(2 * .pi * 1000 * Double(index) / 48_000))
        }.max()
        #expect(try #require(worst) < 60)
    }

    @Test func whatTheNewRateCannotHoldIsLeftOut() throws {
        let tone = (0..<24_000).map { (index: Int) -> Int16 in
            let phase: Double = 2 * Double.pi * 30_000 * Double(index) / 96_000
            return Int16(12_000 * sin(phase))
        }
        let samples = try WAVAudio(parsing: Self.file(tone, rate: 96_000)).samples
        #expect(try #require(samples[1000..<11_000].map { abs(Int($0)) }.max()) < 60)
    }

    @Test(
        arguments: [
            ([], "no WAV file"), (Array("RIFF1234WAVE".utf8), "no sound"), (Array("RIFF1234AIFF".utf8), "no WAV file"),
            (Array("RIFF1234WAVEdata\0\0\0\0".utf8), "before its format"),
            (Array("RIFF1234WAVEfmt \u{4}\0\0\0\u{1}\0\u{1}\0".utf8), "cut short"),
            (file([1], rate: 100), "100 Hz"), (file([1], channelCount: 0), "0 channels"),
            (file([1], kind: 3), "16-bit PCM"),
        ] as [([UInt8], String)])
    func whatCannotBeReadIsNamed(bytes: [UInt8], why: String) throws {
        let error = try #require(thrown(WAVError.self) { try WAVAudio(parsing: bytes) })
        #expect(error.description.contains(why))
    }

    @Test func mutatedFilesNeverTrap() {
        let original = Self.file((0..<200).map { Int16($0 * 100) }, channelCount: 2, kind: 0xFFFE)
        var random = SeededBytes(seed: 2)
        var refused = 0
        for _ in 0..<2000 {
            var bytes = original
            for _ in 0...random.below(3) {
                // The header is where mistakes are made; 48 kHz keeps a strange rate from costing a large table.
                let index = random.below(random.below(4) == 0 ? bytes.count : 90)
                if (24..<28).contains(index) { continue }
                bytes[index] = UInt8(random.below(256))
            }
            if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count)) }
            if (try? WAVAudio(parsing: bytes)) == nil { refused += 1 }
        }
        #expect((200..<1900).contains(refused))
    }
}
