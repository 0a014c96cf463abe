import Testing

@testable import Hardware

@Suite struct StreamTimingTests {
    private static func grant(
        rate: Int = 48_000, period: Int = 480, buffer: Int = 7_680
    ) -> PCM.Grant {
        PCM.Grant(
            samplesPerSecond: rate, channelCount: 1, format: .int16, periodSampleCount: period,
            bufferSampleCount: buffer)
    }

    private static func status(
        available: Int = 0, delay: Int = 0, isRunning: Bool = true
    ) -> PCM.Status {
        PCM.Status(
            isRunning: isRunning, isBroken: false, availableCount: available, delayCount: delay, at: .seconds(100))
    }

    @Test func whatWasReadIsAsOldAsWhatFollowedIt() {
        let timing = CaptureTiming(grant: Self.grant(), converterLatency: .milliseconds(1))
        // 480 samples wait in the card and 48 in the stream: the last one handed out came 11 ms before now, and 1 ms earlier in truth.
        #expect(
            timing.capturedAt(Self.status(available: 480, delay: 480), pendingCount: 48)
                == .seconds(100) - .milliseconds(12))
        #expect(timing.capturedAt(Self.status(delay: -5), pendingCount: 0) == .seconds(100) - .milliseconds(1))
        #expect(timing.capturedAt(Self.status(delay: 480, isRunning: false), pendingCount: 0) == .seconds(100))
    }

    @Test(arguments: [
        (0, 0), (480, 0), (3_360, 0), (3_361, 2_881), (7_680, 7_200),
    ])
    func aBacklogBeyondItsLimitIsGivenUpButForAPeriod(available: Int, excess: Int) {
        let timing = CaptureTiming(grant: Self.grant(), converterLatency: .zero)
        #expect(timing.excess(Self.status(available: available)) == excess)
    }

    @Test func aLongPeriodIsNoBacklog() {
        let timing = CaptureTiming(grant: Self.grant(period: 4_096, buffer: 16_384), converterLatency: .zero)
        #expect(timing.excess(Self.status(available: 4_096 + 2_000)) == 0)
    }

    @Test func aSampleSoundsAfterAllThatLiesBeforeIt() {
        let timing = PlaybackTiming(grant: Self.grant(rate: 44_100), converterLatency: .milliseconds(2))
        #expect(timing.playsAt(Self.status(delay: 441)) == .seconds(100) + .milliseconds(12))
        #expect(timing.playsAt(Self.status(delay: -3)) == .seconds(100) + .milliseconds(2))
    }

    @Test(arguments: [
        // A target of 20 ms: a frame is asked for when 10 ms are left.
        (480, 7_680, 20, 7_200, 480), (480, 7_680, 80, 4_320, 3_360),
        // A buffer that holds less than the target, and one that holds no more than a frame.
        (480, 960, 80, 480, 480), (240, 480, 20, 480, 1),
    ])
    func theCardHoldsTheTargetAfterEachFrame(period: Int, buffer: Int, target: Int, room: Int, silence: Int) {
        let timing = PlaybackTiming(grant: Self.grant(period: period, buffer: buffer), converterLatency: .zero)
        #expect(timing.room(target: .milliseconds(target)) == room)
        #expect(timing.silenceCount(target: .milliseconds(target)) == silence)
    }

    @Test func aStalledCardGetsNoMore() {
        let timing = PlaybackTiming(grant: Self.grant(), converterLatency: .zero)
        let target = Duration.milliseconds(20)
        #expect(!timing.isFull(Self.status(available: 7_200, delay: 480), target: target))
        #expect(!timing.isFull(Self.status(available: 5_760, delay: 1_920), target: target))
        #expect(timing.isFull(Self.status(available: 5_759, delay: 1_921), target: target))
    }

    @Test func aCardWithALongWayBehindItsBufferIsNotFull() {
        let timing = PlaybackTiming(grant: Self.grant(), converterLatency: .zero)
        #expect(!timing.isFull(Self.status(available: 7_200, delay: 9_600), target: .milliseconds(20)))
    }

    @Test(arguments: [
        (48_000, Duration.milliseconds(10), 480), (44_100, .milliseconds(10), 441), (11_025, .milliseconds(10), 111),
        (48_000, .zero, 0),
    ])
    func aLengthIsCountedInWholeSamples(rate: Int, length: Duration, count: Int) {
        #expect(Self.grant(rate: rate).sampleCount(length) == count)
    }
}
