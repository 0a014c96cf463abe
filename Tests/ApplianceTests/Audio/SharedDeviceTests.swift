import Synchronization
import Testing
import VoiceCore

@testable import Appliance

@Suite struct SharedDeviceTests {
    private let earcons = Earcons(Configuration.Tones(volume: 100)) { _ in }

    private func samples(_ earcon: Earcon) throws -> [Int16] {
        try #require(earcons.place(of: earcon)).flatMap { earcons.samples[$0] }
    }

    private func write(_ value: Int16, _ count: Int, to playback: inout some AudioPlayback) throws {
        for _ in 0..<count {
            var frame = [Int16](repeating: value, count: 480)
            _ = try frame.withUnsafeMutableBufferPointer { try playback.write($0) }
        }
    }

    // MARK: In a voice

    @Test func anEarconIsMixedIntoTheVoicesFramesAndDoesNotCountAsTheProvider() throws {
        let device = FakeDevice()
        let bridge = SoundBridge(earcons: earcons)
        let shared = SharedDevice(device, bridge: bridge)
        bridge.expectVoice(1)
        bridge.play(.open)
        var playback = try shared.openPlayback()
        try write(0, 20, to: &playback)
        let open = try samples(.open)
        #expect(Array(device.played.prefix(open.count)) == open)
        #expect(device.played.dropFirst(open.count).allSatisfy { $0 == 0 })
        #expect(bridge.meter.read().speakerDBFS == SoundMeter.floorDBFS)
        #expect(bridge.meter.firstSoundAt == nil)
    }

    @Test func whatIsSilencedIsNotPlayedAndStillCountsAsTheProvider() throws {
        let device = FakeDevice()
        let bridge = SoundBridge(earcons: earcons)
        let shared = SharedDevice(device, bridge: bridge)
        bridge.expectVoice(1)
        var playback = try shared.openPlayback()
        try write(3277, 2, to: &playback)
        bridge.silenceSpeech()
        _ = bridge.meter.read()
        try write(3277, 2, to: &playback)
        #expect(device.played.suffix(480).allSatisfy { $0 == 0 })
        #expect(abs(bridge.meter.read().speakerDBFS + 20) < 0.05)
    }

    @Test func theNoticeIsPlayedAtTheStartOfEachVoice() throws {
        let folder = WAVDeviceTests.Folder()
        try folder.write(WAVAudioTests.file([Int16](repeating: 700, count: 480)), to: "in.wav")
        let tones = Configuration.Tones(earcons: .none, notice: "\(folder.path)/in.wav", volume: 100)
        let bridge = SoundBridge(earcons: Earcons(tones) { _ in })
        for _ in 0..<2 {
            let device = FakeDevice()
            let shared = SharedDevice(device, bridge: bridge)
            bridge.expectVoice(1)
            var playback = try shared.openPlayback()
            try write(0, 2, to: &playback)
            #expect(device.played == [Int16](repeating: 700, count: 480) + [Int16](repeating: 0, count: 480))
            bridge.dismissVoice()
        }
    }

    @Test func theMicrophoneIsToldAtItsFirstFrameAndWhenNothingComes() async throws {
        let bridge = SoundBridge(earcons: earcons)
        bridge.expectVoice(7)
        do {
            var capture = try SharedDevice(FakeDevice(), bridge: bridge).openCapture()
            var frame = [Int16](repeating: 0, count: 480)
            for _ in 0..<11 { _ = try frame.withUnsafeMutableBufferPointer { try capture.read(into: $0) } }
            #expect(throws: AudioDeviceError.self) {
                _ = try frame.withUnsafeMutableBufferPointer { try capture.read(into: $0) }
            }
        }
        var changes: [SoundChange] = []
        for await change in bridge.changes {
            changes.append(change)
            if changes.count == 4 { break }
        }
        #expect(changes == [true, false, true, false].map { SoundChange(part: .microphone, works: $0, call: 7) })
    }

    @Test func aSpeakerThatCannotBeHadIsToldAndSoIsItsReturn() async throws {
        let bridge = SoundBridge(earcons: earcons)
        bridge.expectVoice(3)
        let refusing = FakeDevice(refusal: AudioDeviceError(.absent, "There is none."))
        #expect(throws: AudioDeviceError.self) { _ = try SharedDevice(refusing, bridge: bridge).openPlayback() }
        var playback = try SharedDevice(FakeDevice(), bridge: bridge).openPlayback()
        try write(0, 2, to: &playback)
        var changes = bridge.changes.makeAsyncIterator()
        #expect(await changes.next() == SoundChange(part: .speaker, works: false, call: 3))
        #expect(await changes.next() == SoundChange(part: .speaker, works: true, call: 3))
    }

    @Test func theEndWaitsUntilTheDeviceIsPutBackAndLetsNoToneBegin() async throws {
        let device = FakeDevice()
        let bridge = SoundBridge(earcons: earcons) { ToneThread.play($0, on: device, .app, SpeakerSlot()) }
        let shared = SharedDevice(device, bridge: bridge)
        _ = try shared.openCapture()
        async let ended: Void = bridge.end(within: .seconds(10))
        shared.deactivate()
        await ended
        #expect(bridge.turn { $0.isFree })
        bridge.play(.ended)
        #expect(device.played.isEmpty)
    }

    // MARK: Without a voice

    @Test func aToneOpensTheSpeakerPlaysAndLetsItGo() throws {
        let device = FakeDevice()
        let bridge = SoundBridge(earcons: earcons) { ToneThread.play($0, on: device, .managed, SpeakerSlot()) }
        bridge.play(.ended)
        #expect(device.steps == ["activated", "playback opened", "playback closed", "deactivated"])
        let ended = try samples(.ended)
        #expect(Array(device.played.prefix(ended.count)) == ended)
        #expect(device.played.dropFirst(ended.count).allSatisfy { $0 == 0 })
        #expect(device.played.count - ended.count >= 9 * 480)
        #expect(bridge.turn { $0.isFree })
    }

    @Test func aSpeakerThatCannotBeHadForgetsTheTone() {
        let device = FakeDevice(refusal: AudioDeviceError(.absent, "There is none."))
        let bridge = SoundBridge(earcons: earcons) { ToneThread.play($0, on: device, .app, SpeakerSlot()) }
        bridge.play(.ended)
        #expect(device.steps == ["activated", "deactivated"])
        #expect(bridge.turn { $0.isFree })
    }

    /// A press's tone sounds before its voice has the speaker; the voice is given the same one, and the tone goes on in its frames.
    @Test func aVoiceIsGivenTheSpeakerThatItsFirstToneOpened() throws {
        let holder = Mutex<SoundBridge?>(nil)
        let device = FakeDevice { count in
            // The voice's own threads, as far as the turn is concerned.
            guard count == 3, let bridge = holder.withLock({ $0 }) else { return }
            bridge.turn {
                $0.takeMicrophone()
                _ = $0.takeSession()
                _ = $0.takeSpeaker()
            }
        }
        let slot = SpeakerSlot<FakeDevice.Playback>()
        let bridge = SoundBridge(earcons: earcons) { ToneThread.play($0, on: device, .app, slot) }
        holder.withLock { $0 = bridge }
        let shared = SharedDevice(device, bridge: bridge, slot: slot)
        bridge.expectVoice(1)
        bridge.play(.connecting)
        #expect(device.steps == ["activated", "playback opened"])
        #expect(device.played.count == 3 * 480)
        do {
            var playback = try shared.openPlayback()
            try write(0, 4, to: &playback)
        }
        #expect(device.steps == ["activated", "playback opened", "playback closed"])
        let connecting = try samples(.connecting)
        #expect(Array(device.played.prefix(connecting.count)) == connecting)
        bridge.dismissVoice()
        shared.deactivate()
        #expect(device.steps.last == "deactivated")
        #expect(bridge.turn { $0.isFree })
    }

    @Test func aToneThatSoundsIsCutForTheNextPressWithoutAClick() throws {
        let holder = Mutex<SoundBridge?>(nil)
        let device = FakeDevice { count in
            let bridge = holder.withLock { $0 }
            if count == 3 { bridge?.expectVoice(1) }
            if count == 20 { bridge?.dismissVoice() }
        }
        let bridge = SoundBridge(earcons: earcons) { ToneThread.play($0, on: device, .app, SpeakerSlot()) }
        holder.withLock { $0 = bridge }
        bridge.play(.fault(.noNetwork))
        #expect(device.played.prefix(4 * 480).contains { $0 != 0 })
        #expect(device.played.dropFirst(3 * 480 + 240).allSatisfy { $0 == 0 })
        // It was kept open for the voice, and closed once there was none.
        #expect(device.played.count == 21 * 480)
        #expect(device.steps == ["activated", "playback opened", "playback closed", "deactivated"])
    }

    @Test func aSpeakerThatWasNotFetchedIsClosedWithTheVoice() throws {
        let device = FakeDevice()
        let slot = SpeakerSlot<FakeDevice.Playback>()
        let bridge = SoundBridge(earcons: earcons)
        let shared = SharedDevice(device, bridge: bridge, slot: slot)
        try shared.activate(.app)
        slot.put(try device.openPlayback())
        shared.deactivate()
        #expect(device.steps == ["activated", "playback opened", "playback closed", "deactivated"])
    }

    @Test func aSpeakerThatCannotBeHadIsNotAskedForAgainAndAgainWhileAVoiceIsExpected() {
        let device = FakeDevice(refusal: AudioDeviceError(.absent, "There is none."))
        let bridge = SoundBridge(earcons: earcons) { ToneThread.play($0, on: device, .app, SpeakerSlot()) }
        bridge.expectVoice(1)
        bridge.play(.connecting)
        #expect(device.steps == ["activated", "deactivated"])
    }

    @Test func aToneWaitsUntilTheVoiceHasLetGoOfTheDevice() throws {
        let device = FakeDevice()
        let bridge = SoundBridge(earcons: earcons) { ToneThread.play($0, on: device, .app, SpeakerSlot()) }
        let shared = SharedDevice(device, bridge: bridge)
        bridge.expectVoice(1)
        _ = try shared.openCapture()
        try shared.activate(.app)
        var playback = try shared.openPlayback()
        bridge.dismissVoice()
        bridge.play(.ended)
        try write(0, 2, to: &playback)
        #expect(device.played.allSatisfy { $0 == 0 })
        shared.deactivate()
        let ended = try samples(.ended)
        #expect(Array(device.played.dropFirst(960).prefix(480)) == Array(ended.prefix(480)))
    }

    @Test func aRefusedMicrophoneLeavesTheSpeakerToTheFaultsTone() {
        let starts = Atomic(0)
        let bridge = SoundBridge(earcons: earcons) { _ in starts.add(1, ordering: .relaxed) }
        let refusing = FakeDevice(refusal: AudioDeviceError(.busy, "Another program holds it."))
        bridge.expectVoice(1)
        #expect(throws: AudioDeviceError.self) { _ = try SharedDevice(refusing, bridge: bridge).openCapture() }
        #expect(starts.load(ordering: .relaxed) == 0)
        #expect(bridge.turn { $0.isFree })
        bridge.dismissVoice()
        bridge.play(.fault(.microphoneDenied))
        #expect(starts.load(ordering: .relaxed) == 1)
        bridge.play(.ended)
        #expect(starts.load(ordering: .relaxed) == 1)
    }
}
