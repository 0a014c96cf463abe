import Synchronization
import Testing

@testable import Support
@testable import VoiceCore

/// The face with its real threads and sockets, over loopback. Waits end with what they wait for, not after a time.
@MainActor
@Suite(.serialized) struct PBVoiceTests {
    private let device = TestDevice()

    init() {
        PBVoice.configuration = VoiceConfiguration()
        PBVoice.configuration.interfaces = ["lo"]
        PBVoice.configuration.offersLoopback = true
        PBVoice.audioDevice = device
    }

    /// A backend and provider in this process.
    private func provider(_ device: TestDevice = TestDevice()) -> (
        start: @MainActor (String) async throws -> PBStartedVoice, voices: Voices
    ) {
        let voices = Voices()
        return (
            { offer in
                let voice = try await AnsweringVoice.answer(
                    offer: offer, device: device, configuration: PBVoice.configuration
                ) { state in voices.states.withLock { $0.append(state) } }
                voices.answering.withLock { $0.append(voice) }
                return PBStartedVoice(id: "voice-1", sdp: voice.answer)
            }, voices
        )
    }

    @Test func connectsReportsEachStateOnceAndCarriesSoundBothWays() async throws {
        let provider = provider()
        var states: [PBVoiceState] = []
        let voice = try await PBVoice.connect(start: provider.start, onState: { states.append($0) })
        #expect(voice.id == "voice-1")
        #expect(voice.state == .connecting)
        try await eventually { voice.state == .connected }
        try await eventually { self.device.used.framesRead > 10 && self.device.used.framesWritten > 10 }
        voice.close()
        #expect(voice.state == .closed)
        #expect(states == [.connecting, .connected, .closed])
        try await eventually { self.device.isReleased }
        #expect(device.used.activations == [.managed])
        try await eventually { provider.voices.states.withLock { $0.last } == .closed }
    }

    @Test func anOfferIsAnsweredAndTheVoiceConnects() async throws {
        PBVoice.prepare(answering: true)
        let far = try VoiceRuntime(side: .offering, configuration: PBVoice.configuration) { _ in }
        defer { far.close() }
        let farDevice = TestDevice()
        try await far.openSound(farDevice, session: .app, lease: nil)
        var answered: [String] = []
        let voice = try await PBVoice.connect(
            offered: { PBStartedVoice(id: "voice-1", sdp: try await far.offer(timeout: .seconds(10))) },
            answer: { started, sdp in
                answered.append(started.id)
                try await far.accept(answer: sdp, servers: [])
            })
        #expect(voice.id == "voice-1")
        #expect(answered == ["voice-1"])
        try await eventually { voice.state == .connected }
        try await eventually { self.device.used.framesWritten > 10 && farDevice.used.framesWritten > 10 }
        voice.close()
        try await eventually { self.device.isReleased }
    }

    @Test func anAnswerThatTheBackendRefusesLeavesNothingOpen() async throws {
        let far = try VoiceRuntime(side: .offering, configuration: PBVoice.configuration) { _ in }
        defer { far.close() }
        do throws(PBVoiceError) {
            _ = try await PBVoice.connect(
                offered: { PBStartedVoice(id: "a", sdp: try await far.offer(timeout: .seconds(10))) },
                answer: { _, _ in throw CancellationError() })
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.kind == .refused)
        }
        do throws(PBVoiceError) {
            _ = try await PBVoice.connect(offered: { PBStartedVoice(id: "a", sdp: "v=0") }, answer: { _, _ in })
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.kind == .invalidAnswer)
        }
        try await eventually { self.device.isReleased }
    }

    @Test func aSecondCallFollowsTheFirst() async throws {
        for _ in 1...3 {
            let voice = try await PBVoice.connect(start: provider().start, audioSession: .app)
            try await eventually { voice.state == .connected }
            voice.close()
            PBVoice.prepare()
        }
        try await eventually { self.device.isReleased }
        #expect(device.used.activations == [.app, .app, .app])
    }

    /// Whoever keeps a card open that was pulled out keeps the kernel from giving it back.
    @Test func aMicrophoneThatWasPulledOutIsLetGoOfAndTakenAgainInTheSameVoice() async throws {
        let voice = try await PBVoice.connect(start: provider().start)
        try await eventually { voice.state == .connected && self.device.used.framesRead > 0 }
        device.isPulledOut.store(true, ordering: .relaxed)
        try await eventually { self.device.used.capturesOpen == 0 }
        let frameCount = device.used.framesRead
        device.isPulledOut.store(false, ordering: .relaxed)
        try await eventually { self.device.used.framesRead > frameCount }
        #expect(device.used.capturesOpen == 1)
        #expect(voice.state == .connected)
        voice.close()
        try await eventually { self.device.isReleased }
    }

    @Test func aMicrophoneThatCannotBeHadIsDeniedAndNothingIsPosted() async throws {
        let denied = TestDevice(refusal: AudioDeviceError(.busy, "Another program holds the microphone."))
        PBVoice.audioDevice = denied
        var posted = 0
        let error = await failure {
            try await PBVoice.connect(start: { _ in
                posted += 1
                return PBStartedVoice(id: "", sdp: "")
            })
        }
        #expect(error?.code == "microphone_denied")
        #expect(posted == 0)
        #expect(denied.used == TestDevice.Uses())
    }

    @Test func aSessionThatCannotBeSetUpClosesTheMicrophone() async throws {
        let refusing = TestDevice(sessionRefusal: AudioDeviceError(.unsupported, "No mixer."))
        PBVoice.audioDevice = refusing
        let error = await failure { try await PBVoice.connect(start: self.provider().start) }
        #expect(error?.code == "audio_session")
        try await eventually { refusing.used.capturesOpen == 0 }
        #expect(refusing.used.deactivations == 0)
    }

    @Test func aRefusalByTheBackendClosesWhateverWasOpenedAndKeepsItsError() async throws {
        struct Refusal: Error, Equatable {}
        let error = await failure { try await PBVoice.connect(start: { _ in throw Refusal() }) }
        #expect(error?.code == "refused")
        #expect(error?.underlying as? Refusal == Refusal())
        try await eventually { self.device.isReleased }
        #expect(device.used.activations.count == 1)
    }

    @Test func anAnswerThatIsNoSDPIsInvalidAndClosesWhateverWasOpened() async throws {
        let error = await failure {
            try await PBVoice.connect(start: { _ in PBStartedVoice(id: "1", sdp: "<html>Sign in</html>") })
        }
        #expect(error?.code == "invalid_answer")
        try await eventually { self.device.isReleased }
    }

    @Test func theOfferIsAnSDPWithAudioAndDataChannel() async throws {
        var offer = ""
        _ = try? await PBVoice.connect(start: { sdp in
            offer = sdp
            throw CancellationError()
        })
        #expect(offer.hasPrefix("v=0\r\n"))
        #expect(offer.contains("m=audio "))
        #expect(offer.contains("m=application "))
        #expect(offer.contains("typ host"))
    }

    @Test func mutingIsSaidAtOnce() async throws {
        let voice = try await PBVoice.connect(start: provider().start)
        #expect(!voice.muted)
        voice.mute(true)
        #expect(voice.muted)
        voice.mute(false)
        #expect(!voice.muted)
        voice.close()
    }

    @Test func whatIsSaidWhileConnectingIsKeptAndSentAndNothingOfWhatIsSaidMuted() async throws {
        let ear = TestDevice()
        let provider = provider(ear)
        device.speaks.store(true, ordering: .relaxed)
        let device = device
        let voice = try await PBVoice.connect(start: { offer in
            try await eventually { device.used.framesRead >= 20 }
            PBVoice.muteWhileConnecting(true)
            let muted = device.used.framesRead
            try await eventually { device.used.framesRead >= muted + 30 }
            return try await provider.start(offer)
        })
        #expect(voice.muted)
        try await eventually { voice.state == .connected }
        try await eventually { ear.used.loudFramesWritten >= 18 }
        let connected = device.used.framesRead
        try await eventually { device.used.framesRead >= connected + 40 }
        #expect(ear.used.loudFramesWritten < 35)
        voice.close()
    }

    @Test func mutedBeforeItBeginsAVoiceIsMutedFromItsFirstFrameAndTheNextIsNot() async throws {
        PBVoice.muteWhileConnecting(true)
        let muted = try await PBVoice.connect(start: provider().start)
        #expect(muted.muted)
        muted.close()
        let next = try await PBVoice.connect(start: provider().start)
        #expect(!next.muted)
        next.close()
    }

    @Test func theProvidersEndClosesTheVoiceAndTheMicrophone() async throws {
        let provider = provider()
        let voice = try await PBVoice.connect(start: provider.start)
        try await eventually { voice.state == .connected }
        for answering in provider.voices.answering.withLock({ $0 }) { answering.close() }
        try await eventually { voice.state == .closed }
        try await eventually { self.device.isReleased }
    }

    // MARK: Let go of

    @Test func aVoiceLetGoOfOnMainIsClosed() async throws {
        let provider = provider()
        var voice: PBVoice? = try await PBVoice.connect(start: provider.start)
        try await eventually { voice?.state == .connected }
        voice = nil
        try await eventually { self.device.isReleased }
        try await eventually { provider.voices.states.withLock { $0.last } == .closed }
    }

    @Test func aVoiceLetGoOfInADetachedTaskIsClosed() async throws {
        let provider = provider()
        let start = provider.start
        await Task.detached {
            let voice = try? await PBVoice.connect(start: start)
            try? await eventually { voice?.state == .connected }
        }.value
        try await eventually { self.device.isReleased }
        try await eventually { provider.voices.states.withLock { $0.last } == .closed }
    }

    @Test func aConnectingTaskThatIsDroppedInMidConnectLeavesNothingOpen() async throws {
        let asked = AsyncStream<Void>.makeStream()
        let task = Task { @MainActor in
            _ = try await PBVoice.connect(start: { _ in
                asked.continuation.yield()
                try await Task.sleep(for: .seconds(60))
                return PBStartedVoice(id: "", sdp: "")
            })
        }
        for await _ in asked.stream { break }
        task.cancel()
        await expectCancelled(task)
        try await eventually { self.device.isReleased }
    }

    // MARK: Cancelled

    @Test func cancelledBeforeItBeginsNothingIsOpened() async throws {
        let task = Task { @MainActor in
            _ = try await PBVoice.connect(start: self.provider().start)
        }
        task.cancel()
        await expectCancelled(task)
        try await eventually { self.device.isReleased }
    }

    @Test func cancelledWhileTheMicrophoneOpensItReturnsAtOnceAndClosesItWhenItCame() async throws {
        device.holdsMicrophone.store(true, ordering: .releasing)
        let task = Task { @MainActor in
            _ = try await PBVoice.connect(start: self.provider().start)
        }
        try await eventually { self.device.isHolding.load(ordering: .acquiring) }
        task.cancel()
        await expectCancelled(task)
        device.holdsMicrophone.store(false, ordering: .releasing)
        try await eventually { self.device.isReleased }
    }

    @Test func cancelledWhileTheBackendAnswersTheAnswerIsNotUsed() async throws {
        let provider = provider()
        var task: Task<Void, any Error>?
        task = Task { @MainActor in
            _ = try await PBVoice.connect(start: { offer in
                let started = try await provider.start(offer)
                task?.cancel()
                return started
            })
        }
        await expectCancelled(try #require(task))
        #expect(!provider.voices.states.withLock { $0.contains(.connected) })
        for answering in provider.voices.answering.withLock({ $0 }) { answering.close() }
    }

    /// Cancels after each of the first scheduling steps, so that every await of `connect` is hit by some of them.
    @Test(arguments: 0..<40)
    func cancelledAfterSomeStepsEverythingIsClosed(steps: Int) async throws {
        let provider = provider()
        let task = Task { @MainActor in
            try await PBVoice.connect(start: provider.start).close()
        }
        for _ in 0..<steps { await Task.yield() }
        task.cancel()
        _ = await task.result
        try await eventually { self.device.isReleased }
        for answering in provider.voices.answering.withLock({ $0 }) { answering.close() }
    }

    private func expectCancelled(_ task: Task<Void, any Error>) async {
        let error = await failure { try await task.value }
        #expect(error?.code == "cancelled")
    }

    /// The error that `body` ends with; nil where it does not.
    private func failure<Value: Sendable>(_ body: @MainActor () async throws -> Value) async -> PBVoiceError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? PBVoiceError
        }
    }
}

/// What the provider in this process has made.
final class Voices: Sendable {
    let answering = Mutex<[AnsweringVoice]>([])
    let states = Mutex<[PBVoiceState]>([])
}

/// Waits until `condition` holds; the limit is only there for the day it never does.
@MainActor
func eventually(
    _ condition: @MainActor () -> Bool, sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let limit = Instant.now + .seconds(10)
    while !condition() {
        guard Instant.now < limit else {
            Issue.record("did not come about within 10 s", sourceLocation: sourceLocation)
            throw CancellationError()
        }
        try await Task.sleep(for: .milliseconds(2))
    }
}
