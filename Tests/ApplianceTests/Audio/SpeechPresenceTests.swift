import Testing

@testable import Appliance

@Suite struct SpeechPresenceTests {
    /// How many of these levels, four a second, count as speech.
    private func count(_ levels: [Double]) -> Int {
        var presence = SpeechPresence()
        return levels.filter { presence.hears($0) }.count
    }

    /// A place's noise: levels about a mean, spread by three dB either way at most and seldom that far.
    private func noise(_ mean: Double, seconds: Int, seed: UInt64) -> [Double] {
        var random = SeededBytes(seed: seed)
        return (0..<4 * seconds).map { _ in
            let dice = (0..<3).map { _ in Double(random.below(1000)) / 1000 - 0.5 }
            return mean + 2 * dice.reduce(0, +)
        }
    }

    @Test(arguments: [-70.0, -45, -30, -15])
    func steadyNoiseIsNoSpeechHoweverLoud(mean: Double) {
        #expect((1...20).allSatisfy { count(noise(mean, seconds: 60, seed: $0)) == 0 })
    }

    @Test func aWordInAQuietRoomIsSpeech() {
        #expect(count([-70, -70, -70, -35, -70, -70]) == 1)
    }

    @Test func whatIsQuieterThanSilenceOfOtherRoomsIsNoSpeech() {
        #expect(count([-90, -90, -90, -51, -90]) == 0)
    }

    @Test func speechThatStandsOutOfTheNoiseIsHeardFromSecondToSecond() {
        var levels = noise(-45, seconds: 60, seed: 1)
        // Words and breaths: three quarters of a second and one, again and again.
        for index in levels.indices where index % 4 != 3 { levels[index] = -30 }
        var presence = SpeechPresence()
        let heard = levels.map { presence.hears($0) }
        // From the second breath on: what the noise is must be known first.
        #expect(stride(from: 4, to: heard.count, by: 4).allSatisfy { heard[$0..<$0 + 4].contains(true) })
    }

    @Test func noiseThatBeginsIsSpeechForASecondsTimeOnly() {
        let levels = noise(-70, seconds: 10, seed: 2) + noise(-35, seconds: 60, seed: 3)
        #expect((1...40).contains(count(levels)))
        #expect(count(Array(levels.prefix(4 * 10 + 4 * 9))) == count(levels))
    }
}
