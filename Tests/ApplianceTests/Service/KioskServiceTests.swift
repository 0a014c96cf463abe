import Hardware
import Synchronization
import Testing

@testable import Appliance
@testable import VoiceCore

/// The shell with stand-ins for the backend and the voice. Nothing here sleeps: a script waits for what the service tells.
@Suite @MainActor struct KioskServiceTests {
    /// A voice that does at once what it is asked.
    private final class FakeVoice: OpenVoice {
        let id: String
        private(set) var state = PBVoiceState.connecting
        private(set) var mutes: [Bool] = []
        private(set) var texts: [String] = []
        private let onError: @MainActor (PBVoiceError) -> Void
        private let onState: @MainActor (PBVoiceState) -> Void

        init(
            id: String, onError: @escaping @MainActor (PBVoiceError) -> Void,
            onState: @escaping @MainActor (PBVoiceState) -> Void
        ) {
            self.id = id
            self.onError = onError
            self.onState = onState
        }

        func fail(_ code: PBVoiceError.Code) {
            onError(PBVoiceError(code, "It fails."))
            change(to: .failed)
        }

        func change(to state: PBVoiceState) {
            self.state = state
            onState(state)
        }

        func mute(_ muted: Bool) { mutes.append(muted) }
        func interrupt() {}
        func send(text: String) { texts.append(text) }

        func close() {
            guard state != .closed else { return }
            change(to: .closed)
        }
    }

    /// Keeps what it was asked.
    private final class FakeBackend: VoiceBackend {
        let calls = Mutex<[String]>([])
        let refusal: BackendError?
        /// Never answers: `start` ends by being cancelled.
        let hangs: Bool
        let keepAlive: BackendVoice.KeepAlive?

        init(refusal: BackendError? = nil, hangs: Bool = false, keepAlive: BackendVoice.KeepAlive? = nil) {
            self.refusal = refusal
            self.hangs = hangs
            self.keepAlive = keepAlive
        }

        func start(offer: String) async throws -> BackendVoice {
            let count = calls.withLock { calls in
                calls.append("start")
                return calls.filter { $0 == "start" }.count
            }
            if let refusal { throw refusal }
            if hangs { try await Task.sleep(for: .seconds(3600)) }
            return BackendVoice(
                started: PBStartedVoice(id: "voice-\(count)", sdp: "answer"), keepAlive: keepAlive)
        }

        func close(voice: String) async throws -> Double? {
            calls.withLock { $0.append("close \(voice)") }
            return 1.5
        }

        func warm() {}
        func settled(within limit: Duration) async {}
    }

    private final class Diary: HappeningWatcher, LED {
        var happenings: [Happening] = []
        var shown: [BlinkPattern] = []

        func saw(_ happening: Happening, at instant: Instant) {
            if case .level = happening { return }
            happenings.append(happening)
        }

        func show(_ pattern: BlinkPattern) { shown.append(pattern) }
    }

    private struct Visit {
        var happenings: [Happening]
        var voices: [FakeVoice]
        var backendCalls: [String]
        var failure: String?
        var shown: [BlinkPattern]
        /// What was said of the microphone before the voice was there.
        var connectingMutes: [Bool]
        /// The MESSAGE_IDs under which faults were logged.
        var faults: [String]
    }

    /// Runs a script against the service to its end.
    private func visit(
        _ script: String, backend: FakeBackend = FakeBackend(), failsAfterStart: Bool = false,
        connectFails: PBVoiceError.Code? = nil, onConnected: @escaping @MainActor (OpenVoice) -> Void = { _ in },
        onService: @MainActor (KioskService) -> Void = { _ in }
    ) async throws -> Visit {
        let button = ScriptedButton(try ButtonScript(parsing: Array(script.utf8)))
        let diary = Diary()
        let sound = SoundBridge(earcons: Earcons(Configuration.Tones()) { _ in })
        var voices: [FakeVoice] = []
        var connectingMutes: [Bool] = []
        let opener = VoiceOpener(
            connect: { (start, onError, onState) async throws(PBVoiceError) -> any OpenVoice in
                onState(.connecting)
                sound.tell(SoundChange(part: .microphone, works: true, call: sound.expectedCall))
                let started: PBStartedVoice
                do {
                    started = try await start("offer")
                } catch {
                    throw PBVoiceError(
                        Task.isCancelled ? .cancelled : .refused, "The backend refused.", underlying: error)
                }
                if failsAfterStart { throw PBVoiceError(.invalidAnswer, "The answer cannot be used.") }
                let voice = FakeVoice(id: started.id, onError: onError, onState: onState)
                voices.append(voice)
                Task {
                    if let connectFails { return voice.fail(connectFails) }
                    voice.change(to: .connected)
                    onConnected(voice)
                }
                return voice
            }, mute: { connectingMutes.append($0) }, prepare: {})
        let faults = Mutex<[String]>([])
        var settings = Configuration.Talk()
        settings.mode = .hold
        settings.releaseTail = .zero
        let service = KioskService(
            settings, button: button, led: diary, backend: backend, opener: opener, sound: sound,
            health: HealthWatch(
                looks: [], watchdogPeriod: nil, threads: { [] }, send: { _ in }, log: Log(.error) { _, _, _ in }),
            log: Log(.warning) { _, _, id in faults.withLock { $0 += [id].compactMap { $0 } } },
            watchers: [button, diary])
        onService(service)
        let steps = Task { await button.run() }
        await service.run()
        await steps.value
        return Visit(
            happenings: diary.happenings, voices: voices, backendCalls: backend.calls.withLock { $0 },
            failure: button.failure, shown: diary.shown, connectingMutes: connectingMutes,
            faults: faults.withLock { $0 })
    }

    @Test func aVisitIsToldFromReadyToClosed() async throws {
        let visit = try await visit("await ready\npress\nawait open\nawait connected\nrelease\nquit")
        // The microphone's word comes by a way of its own: its place among the voice's states is not fixed.
        #expect(
            visit.happenings.filter { $0 != .microphone(works: true) && $0 != .led(.open) && $0 != .tone(.open) }
                == [
                    .led(.muted), .ready, .button(isPressed: true), .led(.connecting), .tone(.connecting),
                    .state(.connecting), .voice(id: "voice-1"), .state(.connected), .button(isPressed: false),
                    .led(.muted),
                    .tone(.shut), .closing(.quit), .state(.closed), .closed(id: "voice-1", seconds: 1.5),
                ])
        #expect(visit.voices.map(\.mutes) == [[false, true]])
        #expect(visit.backendCalls == ["start", "close voice-1"])
        #expect(visit.failure == nil)
        #expect(visit.shown == [.on, LEDPattern.connecting.blink, .off, .on])
        #expect(visit.connectingMutes == [false])
    }

    @Test func aRefusalIsToldWithTheBackendsReasonAndTheNextPressTriesAgain() async throws {
        let backend = FakeBackend(refusal: BackendError(.refused, "The backend is full.", code: "rate_limited"))
        let visit = try await visit("press\nrelease\nawait error\npress\nrelease\nawait error\nquit", backend: backend)
        let errors = visit.happenings.compactMap { happening -> String? in
            guard case .error(let code, let message) = happening else { return nil }
            return "\(code) \(message)"
        }
        #expect(errors.count == 2)
        #expect(errors.first?.hasPrefix("refused ") == true)
        #expect(errors.first?.contains("rate_limited: The backend is full.") == true)
        #expect(visit.happenings.contains(.led(.fault(.refused))))
        #expect(visit.backendCalls == ["start", "start"])
    }

    @Test func aVoiceThatTheBackendStartedInVainIsClosedThere() async throws {
        let visit = try await visit("press\nawait connecting\nquit", failsAfterStart: true)
        #expect(visit.backendCalls == ["start", "close voice-1"])
        #expect(visit.voices.isEmpty)
    }

    @Test func aQuitWhileConnectingGivesTheConnectUp() async throws {
        let visit = try await visit("press\nawait connecting\nquit", backend: FakeBackend(hangs: true))
        #expect(visit.happenings.last == .led(.muted))
        #expect(visit.shown.last == .on)
        #expect(visit.backendCalls == ["start"])
        #expect(visit.voices.isEmpty)
    }

    @Test func aReleaseWhileConnectingMutesTheVoiceThatIsNotThereYet() async throws {
        let visit = try await visit("press\nawait connecting\nrelease\nquit", backend: FakeBackend(hangs: true))
        #expect(visit.connectingMutes == [false, true])
    }

    @Test func theEndOfAProviderIsTheEndOfTheVoice() async throws {
        let visit = try await visit("press\nawait closed\nquit") { ($0 as? FakeVoice)?.change(to: .closed) }
        #expect(visit.failure == nil)
        #expect(visit.backendCalls == ["start", "close voice-1"])
        #expect(visit.happenings.last == .closed(id: "voice-1", seconds: 1.5))
    }

    @Test(arguments: [(PBVoiceError.Code.udpBlocked, Fault.udpBlocked), (.unreachable, .unreachable)])
    func whyAVoiceDoesNotConnectIsShownByItsName(code: PBVoiceError.Code, fault: Fault) async throws {
        let visit = try await visit("press\nawait closed\nquit", connectFails: code)
        #expect(visit.happenings.contains(.led(.fault(fault))))
        #expect(visit.happenings.contains(.tone(.fault(fault))))
        #expect(visit.faults == [fault.messageID])
    }

    @Test func theNextVoiceIsNotTakenForTheLast() async throws {
        let visit = try await visit("press\nawait closed\nrelease\npress\nawait closed\nquit") {
            ($0 as? FakeVoice)?.change(to: .closed)
        }
        #expect(visit.voices.count == 2)
        #expect(visit.backendCalls.filter { $0.hasPrefix("close") }.count == 2)
    }

    @Test func whatIsWaitedForInVainIsAFailure() async throws {
        let visit = try await visit("await first_sound 0.01\npress")
        #expect(visit.failure == "Step 1 of the button script waited 0.01 s for first_sound in vain.")
        #expect(!visit.happenings.contains(.button(isPressed: true)))
    }

    /// What the provider tells in the first voice, once it is connected, under each of the ids.
    private func told(_ event: VoiceEvent, in ids: [String], _ script: String) async throws -> Visit {
        var service: KioskService?
        return try await visit(
            script,
            onConnected: { voice in
                guard voice.id == "voice-1" else { return }
                for id in ids { service?.hear(event, in: id) }
            }, onService: { service = $0 })
    }

    @Test func aLineOfTheConversationIsToldWhereItIsThisVoices() async throws {
        let line = VoiceLine(role: .assistant, id: "item", step: .added("Good morning."))
        let visit = try await told(.line(line), in: ["voice-1", "voice-0"], "press\nawait connected\nquit")
        #expect(visit.happenings.filter { $0 == .line(line) }.count == 1)
    }

    @Test(arguments: [true, false])
    func aSessionThatEndsIsFollowedByANewVoice(isOver: Bool) async throws {
        // In the last minute of a session the first pause is used.
        let event: VoiceEvent =
            isOver ? .sessionOver(isExpiry: true) : .session(expiresAt: Double(WallClock.now()) + 50)
        let visit = try await told(event, in: ["voice-1"], "press\nawait closed\nawait connected\nquit")
        #expect(visit.voices.map(\.id) == ["voice-1", "voice-2"])
        #expect(visit.happenings.contains(.closing(.expired)))
        #expect(visit.backendCalls.prefix(1) == ["start"])
        #expect(visit.failure == nil)
    }

    @Test(arguments: [
        VoiceEvent.sessionOver(isExpiry: false), .session(expiresAt: nil), .session(expiresAt: 1), .visitorSpeaks(true),
        .response(isRunning: true), .providerSpeaks(false), .outputCleared, .unknown(type: "x"),
    ])
    func whatSaysNothingOfTheSessionsEndChangesNothing(event: VoiceEvent) async throws {
        let visit = try await told(event, in: ["voice-1"], "press\nawait connected\nquit")
        #expect(visit.voices.count == 1)
        #expect(visit.happenings.contains(.closing(.quit)))
    }

    @Test func anEventOfAnEarlierVoiceDoesNotEndThisOne() async throws {
        let visit = try await told(.sessionOver(isExpiry: true), in: ["voice-0"], "press\nawait connected\nquit")
        #expect(visit.voices.count == 1)
    }

    @Test func aProviderThatWantsToHearAnotherWordAgainAndAgainDoesForAsLongAsTheVoiceLasts() async throws {
        let backend = FakeBackend(keepAlive: BackendVoice.KeepAlive(text: "ping", every: .milliseconds(1)))
        let visit = try await visit("press\nawait closed\nquit", backend: backend) { voice in
            Task {
                while let voice = voice as? FakeVoice, voice.texts.count < 3, voice.state != .closed {
                    await Task.yield()
                }
                (voice as? FakeVoice)?.change(to: .closed)
            }
        }
        let voice = try #require(visit.voices.first)
        #expect(voice.texts.count >= 3)
        #expect(Set(voice.texts) == ["ping"])
        // It is not held by what speaks in it.
        let count = voice.texts.count
        for _ in 0..<100 { await Task.yield() }
        #expect(voice.texts.count == count)
    }
}
