import Testing

@testable import Support
@testable import VoiceCore

@Suite struct GateTests {
    private func apply(_ gate: inout Gate, _ value: Int16, isOpen: Bool) -> [Int16] {
        var passage = Gate.Passage.silence
        return apply(&gate, value, isOpen: isOpen, passage: &passage)
    }

    private func apply(_ gate: inout Gate, _ value: Int16, isOpen: Bool, passage: inout Gate.Passage) -> [Int16] {
        Sound.buffer(480) { frame in
            frame.update(repeating: value)
            passage = gate.apply(to: frame, isOpen: isOpen)
            return 480
        }
    }

    @Test func anOpenGateChangesNothingAndAClosedOneGivesZeros() {
        var gate = Gate(isOpen: true)
        #expect(apply(&gate, 1234, isOpen: true).allSatisfy { $0 == 1234 })
        _ = apply(&gate, 1234, isOpen: false)
        #expect(apply(&gate, 1234, isOpen: false).allSatisfy { $0 == 0 })
    }

    @Test(arguments: [true, false]) func aChangeTakesFiveMillisecondsWithoutAJump(opens: Bool) {
        var gate = Gate(isOpen: !opens)
        let frame = apply(&gate, 24_000, isOpen: opens)
        #expect(zip(frame, frame.dropFirst()).allSatisfy { abs(Int($0) - Int($1)) <= 101 })
        #expect(abs(Int(frame[0]) - (opens ? 0 : 24_000)) <= 101)
        #expect(frame[240...].allSatisfy { $0 == (opens ? 24_000 : 0) })
    }
}

extension GateTests {
    @Test func onlyAFrameThatIsShutFromEndToEndCountsAsSilence() {
        var gate = Gate(isOpen: false)
        var passages: [Gate.Passage] = []
        for isOpen in [false, true, true, false, false] {
            var passage = Gate.Passage.silence
            _ = apply(&gate, 1234, isOpen: isOpen, passage: &passage)
            passages.append(passage)
        }
        #expect(passages == [.silence, .sound, .sound, .sound, .silence])
    }
}

@Suite struct LevelTests {
    @Test(arguments: [(Int16.min, 0.0), (16_384, -6.0206), (1036, -30.0), (104, -49.97), (1, -90.309), (0, -96)])
    func aSquareWaveHasTheLevelOfItsHeight(value: Int16, decibels: Double) {
        let level = [Int16](repeating: value, count: 480).withUnsafeBufferPointer { Level.decibels(of: $0) }
        #expect(abs(level - decibels) < 0.01)
    }

    @Test func aSineLiesThreeDecibelsBelowItsPeak() {
        let level = Sound.sine(hertz: 1000, sampleCount: 480, amplitude: 32_767)
            .withUnsafeBufferPointer { Level.decibels(of: $0) }
        #expect(abs(level + 3.0103) < 0.01)
    }

    @Test func nothingHasTheLowestLevel() {
        #expect(Level.decibels(of: UnsafeBufferPointer(start: nil, count: 0)) == -96)
    }
}

@Suite struct BacklogTests {
    private func push(
        _ range: Range<Int>, into backlog: inout Backlog, _ passed: Gate.Passage = .sound, isLive: Bool = false
    ) {
        for start in stride(from: range.lowerBound, to: range.upperBound, by: 480) {
            let frame = (start..<start + 480).map { Int16(truncatingIfNeeded: $0) }
            frame.withUnsafeBufferPointer { backlog.take($0, passed, isLive: isLive) }
        }
    }

    /// As the capture thread does in each 10 ms of a live voice.
    /// - Returns: how many packets were sent, one entry a frame.
    private func liveTurns(_ count: Int, of backlog: inout Backlog, _ passed: Gate.Passage) -> [Int] {
        (0..<count).map { _ in
            push(0..<480, into: &backlog, passed, isLive: true)
            return next(of: &backlog) == nil ? 0 : 1
        }
    }

    private func next(of backlog: inout Backlog) -> [Int16]? {
        var isThere = false
        let pcm = Sound.buffer(960) { room in
            isThere = backlog.next(into: room)
            return 960
        }
        return isThere ? pcm : nil
    }

    @Test func twoFramesMakeAPacketInOrder() {
        var backlog = Backlog()
        push(0..<480, into: &backlog)
        #expect(next(of: &backlog) == nil)
        push(480..<1440, into: &backlog)
        #expect(next(of: &backlog) == (0..<960).map { Int16($0) })
        #expect(next(of: &backlog) == nil)
        #expect(backlog.sampleCount == 480)
    }

    @Test func itKeepsTheLastTenSeconds() {
        var backlog = Backlog()
        push(0..<480_000 + 4800, into: &backlog)
        #expect(backlog.sampleCount == 480_000)
        #expect(backlog.droppedSampleCount == 4800)
        var position = 4800
        while let pcm = next(of: &backlog) {
            #expect(pcm.elementsEqual((position..<position + 960).lazy.map { Int16(truncatingIfNeeded: $0) }))
            position += 960
        }
        #expect(position == 484_800)
    }

    @Test func whileConnectingNothingIsKeptOfAShutGateAndNothingForgotten() {
        var backlog = Backlog()
        push(0..<480, into: &backlog)
        push(4800..<9600, into: &backlog, .silence)
        push(480..<960, into: &backlog)
        push(4800..<9600, into: &backlog, .silence)
        #expect(next(of: &backlog) == (0..<960).map { Int16($0) })
        #expect(backlog.sampleCount == 0)
    }

    @Test func whatWasKeptGoesOutAtTwiceTheSpeedOfTimeUntilItIsGone() {
        var backlog = Backlog()
        push(0..<480 * 10, into: &backlog)
        let sent = liveTurns(14, of: &backlog, .sound)
        #expect(sent == [Int](repeating: 1, count: 10) + [0, 1, 0, 1])
    }

    private func pushSilence(_ frameCount: Int, into backlog: inout Backlog) {
        let frame = [Int16](repeating: 50, count: 480)
        for _ in 0..<frameCount { frame.withUnsafeBufferPointer { backlog.take($0, .sound, isLive: false) } }
    }

    @Test func whoHasSaidNothingYetIsNotLate() {
        var backlog = Backlog()
        pushSilence(300, into: &backlog)
        #expect(liveTurns(4, of: &backlog, .sound) == [0, 1, 0, 1])
    }

    @Test func theSilenceBeforeTheFirstWordIsLeftOutButForItsLast40Milliseconds() {
        var backlog = Backlog()
        pushSilence(300, into: &backlog)
        push(480..<1440, into: &backlog)
        let sent = liveTurns(8, of: &backlog, .silence)
        #expect(sent == [1, 1, 1, 0, 1, 0, 1, 0])
    }

    @Test func aPauseAfterTheBacklogIsNotAddedToItsDelay() {
        var backlog = Backlog()
        push(0..<480 * 11, into: &backlog)
        let sent = liveTurns(10, of: &backlog, .silence)
        #expect(sent == [1, 1, 1, 1, 1, 1, 0, 1, 0, 1])
    }

    @Test func aLiveStreamGoesOnThroughSilence() {
        var backlog = Backlog()
        #expect(liveTurns(6, of: &backlog, .silence) == [0, 1, 0, 1, 0, 1])
    }
}

@Suite struct AudioProcessorTests {
    @Test(arguments: [false, true]) func soundPassesThrough(usesLibrary: Bool) {
        guard var processor = AudioProcessor(usesLibrary: usesLibrary) else {
            Issue.record("the library made no object")
            return
        }
        let now = Instant(nanoseconds: 1)
        let frame = Sound.noise(sampleCount: 480, seed: 1)
        frame.withUnsafeBufferPointer { processor.farEnd($0, playsAt: now) }
        let heard = Sound.buffer(480) { room in
            _ = room.update(fromContentsOf: frame)
            processor.nearEnd(room, capturedAt: now)
            return 480
        }
        #expect(heard == frame)
    }

    @Test func theLibraryHasAVersion() {
        #expect(["0.3", "1.3"].contains(AudioProcessor.libraryVersion))
        #expect(opusVersion().hasPrefix("libopus 1."))
    }
}
