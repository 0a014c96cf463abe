import Testing

@testable import Appliance

@Suite struct SpeakerMixTests {
    private func mixed(_ mix: inout SpeakerMix, into value: Int16 = 0, _ samples: [Int16]) -> [Int16] {
        var frame = [Int16](repeating: value, count: 480)
        frame.withUnsafeMutableBufferPointer { frame in
            samples.withUnsafeBufferPointer { mix.mix(into: frame, from: $0) }
        }
        return frame
    }

    @Test func aSoundIsAddedOnceFromItsBeginningToItsEnd() {
        let samples = (0..<1000).map { Int16($0) }
        var mix = SpeakerMix()
        mix.play([100..<150, 150..<150, 150..<700])
        let heard = mixed(&mix, into: 5, samples) + mixed(&mix, into: 5, samples)
        let sound: [Int16] = samples[100..<700].map { $0 + 5 }
        #expect(heard == sound + [Int16](repeating: 5, count: 360))
        #expect(mix.isEmpty)
    }

    @Test func aSumBeyondFullScaleStaysAtIt() {
        let samples = [Int16](repeating: 30_000, count: 480)
        var mix = SpeakerMix()
        mix.play([0..<480])
        #expect(mixed(&mix, into: 30_000, samples) == [Int16](repeating: .max, count: 480))
    }

    @Test func theNewestEarconTakesThePlaceOfTheOneBeforeWithoutAJump() {
        let samples = [Int16](repeating: 10_000, count: 2000) + [Int16](repeating: 0, count: 2000)
        var mix = SpeakerMix()
        mix.play([0..<2000])
        _ = mixed(&mix, samples)
        mix.play([2000..<4000])
        let heard = mixed(&mix, samples)
        #expect(heard[0] == 10_000)
        #expect(zip(heard, heard.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 42 })
        #expect(heard[240...].allSatisfy { $0 == 0 })
    }

    @Test func theNoticeSoundsBesideAnEarcon() {
        let samples = [Int16](repeating: 1000, count: 480)
        var mix = SpeakerMix()
        mix.playNotice([0..<480])
        mix.play([0..<240])
        let heard = mixed(&mix, samples)
        let expected: [Int16] = [Int16](repeating: 2000, count: 240) + [Int16](repeating: 1000, count: 240)
        #expect(heard == expected)
    }
}

@Suite struct SpeechSilencerTests {
    /// Shows frames of speech or quiet.
    /// - Returns: which of them are heard in full.
    private func heard(_ silencer: inout SpeechSilencer, _ count: Int, isQuiet: Bool) -> [Bool] {
        (0..<count).map { _ in
            var frame = [Int16](repeating: 1000, count: 480)
            frame.withUnsafeMutableBufferPointer { silencer.shape($0, isQuiet: isQuiet) }
            return frame.allSatisfy { $0 == 1000 }
        }
    }

    @Test func speechIsSilencedUntilThePauseAfterIt() {
        var silencer = SpeechSilencer()
        #expect(!heard(&silencer, 10, isQuiet: false).contains(false))
        silencer.silence()
        #expect(!heard(&silencer, 100, isQuiet: false).contains(true))
        #expect(!heard(&silencer, 39, isQuiet: true).contains(true))
        #expect(!heard(&silencer, 10, isQuiet: false).contains(true))
        #expect(!heard(&silencer, 39, isQuiet: true).contains(true))
        _ = heard(&silencer, 1, isQuiet: true)
        #expect(!heard(&silencer, 100, isQuiet: false).contains(false))
    }

    @Test func whereNobodySpeaksNothingIsSilenced() {
        var silencer = SpeechSilencer()
        _ = heard(&silencer, 10, isQuiet: false)
        _ = heard(&silencer, 40, isQuiet: true)
        silencer.silence()
        #expect(!heard(&silencer, 100, isQuiet: false).contains(false))
    }

    @Test func whoeverSpeaksOnForLongIsHeardAgain() {
        var silencer = SpeechSilencer()
        _ = heard(&silencer, 1, isQuiet: false)
        silencer.silence()
        #expect(!heard(&silencer, SpeechSilencer.limitFrameCount, isQuiet: false).contains(true))
        #expect(heard(&silencer, 3, isQuiet: false).suffix(2) == [true, true])
    }

    @Test func theChangeIsNoJump() {
        var silencer = SpeechSilencer()
        _ = heard(&silencer, 1, isQuiet: false)
        silencer.silence()
        var frame = [Int16](repeating: 24_000, count: 480)
        frame.withUnsafeMutableBufferPointer { silencer.shape($0, isQuiet: false) }
        #expect(zip(frame, frame.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 101 })
        #expect(frame[240...].allSatisfy { $0 == 0 })
    }
}
