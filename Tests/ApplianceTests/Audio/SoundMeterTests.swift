import Testing
import VoiceCore

@testable import Appliance

@Suite struct SoundMeterTests {
    private func play(_ sample: Int16, on meter: SoundMeter, at nanoseconds: Int64) {
        let frame = [Int16](repeating: sample, count: 480)
        meter.played(frame.withUnsafeBufferPointer(SoundMeter.Loudness.init), at: Instant(nanoseconds: nanoseconds))
    }

    @Test(arguments: [(Int16.min, 0.0), (16_384, -6.02), (3277, -20.0), (104, -49.97), (1, -90.3), (0, -100)])
    func theLevelIsTheMeanPowerBelowFullScale(sample: Int16, decibels: Double) {
        let meter = SoundMeter()
        for _ in 0..<25 { play(sample, on: meter, at: 1) }
        #expect(abs(meter.read().speakerDBFS - decibels) < 0.05)
    }

    @Test func aReadingTakesOnlyWhatCameSinceTheLast() {
        let meter = SoundMeter()
        play(10_000, on: meter, at: 1)
        _ = meter.read()
        #expect(meter.read() == SoundMeter.Reading())
        var frame = [Int16](repeating: 3277, count: 480)
        frame.withUnsafeMutableBufferPointer { meter.tookIn($0) }
        let reading = meter.read()
        #expect(abs(reading.microphoneDBFS + 20) < 0.05)
        #expect(reading.speakerDBFS == SoundMeter.floorDBFS)
    }

    @Test func theFirstSoundIsTheFirstFrameAboveTheThresholdInEachVoice() {
        let meter = SoundMeter()
        play(103, on: meter, at: 10)
        #expect(meter.firstSoundAt == nil)
        play(104, on: meter, at: 20)
        play(30_000, on: meter, at: 30)
        #expect(meter.firstSoundAt == Instant(nanoseconds: 20))
        meter.startVoice()
        #expect(meter.firstSoundAt == nil)
        play(30_000, on: meter, at: 40)
        #expect(meter.firstSoundAt == Instant(nanoseconds: 40))
    }
}
