import Testing

@testable import VoiceCore

@Suite struct SoundDelayTests {
    @Test func theMeanTheLongestAndTheShareAreKept() {
        var delay = SoundDelay()
        for (milliseconds, share) in [(20, 10), (40, 30), (30, 20)] {
            delay.add(.milliseconds(milliseconds), share: .milliseconds(share))
        }
        #expect(delay.count == 3)
        #expect(delay.mean == .milliseconds(30))
        #expect(delay.meanShare == .milliseconds(20))
        #expect(delay.longest == .milliseconds(40))
    }

    @Test func withoutSoundThereIsNoDelay() {
        var delay = SoundDelay()
        delay.add(.milliseconds(-5))
        #expect(delay.count == 0)
        #expect(delay.mean == .zero)
    }

    @Test func theSentencesNameTheFigures() {
        let microphone = VoiceDiagnostic.microphoneDelay(mean: .microseconds(23_450), longest: .milliseconds(40))
        let speaker = VoiceDiagnostic.speakerDelay(mean: .milliseconds(61), jitterBuffer: .microseconds(38_240))
        #expect(
            "\(microphone)"
                == "The microphone's delay was 23.5 ms on average from a sample to its packet, at most 40.0 ms.")
        #expect(
            "\(speaker)"
                == "The speaker's delay was 61.0 ms on average from a packet to its sample, 38.2 ms of it in the jitter buffer."
        )
    }
}
