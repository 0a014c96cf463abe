import Hardware
import VoiceCore

/// Runs the kiosk: brings it every event in one order, and does each effect it asks for. Lives on the main actor.
///
/// It decides nothing: what may follow upon what is the `Kiosk`'s. It never blocks; voices open and backends are told in tasks
/// whose outcomes come back as events.
@MainActor
final class KioskService {
    private var kiosk: Kiosk
    private let button: any Button
    private let led: any LED
    private let backend: any VoiceBackend
    private let opener: VoiceOpener
    private let sound: SoundBridge
    let log: Log
    private let health: HealthWatch
    private let watchers: [any HappeningWatcher]

    private let events: AsyncStream<Turn>
    private let inbox: AsyncStream<Turn>.Continuation
    private var timer: (deadline: Instant, task: Task<Void, Never>)?
    private let metering: Metering
    private var speech = SpeechPresence()
    /// The voice that was asked for last.
    private(set) var call: Call?
    /// Closes of which the backend has not answered yet.
    private var untoldCount = 0
    private let allTold = Signal()

    /// How long the program may take to end, all in all.
    private static let endLimit: Duration = .seconds(3)
    /// How long the sound device may take of that to be put back.
    private static let deviceLimit: Duration = .seconds(1)
    /// How long after a sound device's change the site is looked at: the kernel takes the device away before it takes the card.
    private static let lookDelay: Duration = .milliseconds(200)

    private struct TimedEvent: Sendable {
        var event: KioskEvent
        var at: Instant
    }

    /// What the loop turns for: an event, or the health's turn, which proves that the loop turns.
    private enum Turn: Sendable {
        case event(TimedEvent)
        case health
        /// A sound device went or came back: STATUS says so within a second, not only at the health's turn.
        case look
    }

    /// A voice from its press to its end.
    final class Call {
        let number: Int
        var task: Task<Void, Never>?
        var voice: (any OpenVoice)?
        /// What the backend calls it by, until the backend was told of its end.
        var startedID: String?
        var wasGivenUp = false
        var isMuted: Bool
        /// What the provider wants to hear again and again.
        var keepAlive: BackendVoice.KeepAlive?
        var keepingAlive: Task<Void, Never>?

        deinit {
            keepingAlive?.cancel()
        }

        init(_ number: Int, isMuted: Bool) {
            self.number = number
            self.isMuted = isMuted
        }
    }

    init(
        _ settings: Configuration.Talk, button: any Button, led: any LED, backend: any VoiceBackend,
        opener: VoiceOpener, sound: SoundBridge, health: HealthWatch, log: Log, watchers: [any HappeningWatcher]
    ) {
        kiosk = Kiosk(settings)
        self.button = button
        self.led = led
        self.backend = backend
        self.opener = opener
        self.sound = sound
        self.health = health
        self.log = log
        self.watchers = watchers
        metering = Metering(sound.meter)
        (events, inbox) = AsyncStream.makeStream()
    }

    /// Serves presses until `quit` is called or the button's events end, then closes what is open and returns.
    func run() async {
        show(kiosk.pattern)
        let reading = Task {
            for await change in button.events {
                post(change.change == .pressed ? .pressed : .released, at: Instant(change))
            }
            quit()
        }
        let listening = Task {
            for await change in sound.changes {
                let news: VoiceNews = change.part == .microphone ? .microphone(change.works) : .speaker(change.works)
                post(.voice(news, call: change.call))
                lookSoon()
            }
        }
        let turning = Task {
            while (try? await Task.sleep(for: health.period, clock: SuspendingClock())) != nil { inbox.yield(.health) }
        }
        health.show(kiosk.state.sentence)
        health.ready(at: Instant.now())
        // Only then: what makes a press fast takes its time, and a press is answered without it too.
        opener.prepare()
        backend.warm()
        announce(.ready)
        log.info("The talk post is ready.")
        var quitAt: Instant?
        turns: for await turn in events {
            switch turn {
            case .health: health.turn(at: Instant.now())
            case .look: health.look()
            case .event(let timed):
                if timed.event == .quit {
                    quitAt = quitAt ?? timed.at
                    health.stopping()
                }
                if handle(timed) { break turns }
            }
        }
        reading.cancel()
        turning.cancel()
        listening.cancel()
        timer?.task.cancel()
        metering.stop()
        let end = (quitAt ?? Instant.now()) + Self.endLimit
        if untoldCount > 0, await !allTold.wait(atMost: max(.zero, end - Instant.now())) {
            log.warning("The backend did not answer in time that the voice was closed.")
        }
        await sound.end(within: max(.zero, min(Self.deviceLimit, end - Instant.now())))
        await backend.settled(within: max(.zero, end - Instant.now()))
        log.info("The talk post has ended.")
    }

    /// Ends the program: closes the voice, tells the backend, then `run` returns. A second call waits for nothing.
    func quit() {
        post(.quit)
    }

    // MARK: Events

    func post(_ event: KioskEvent, at instant: Instant = Instant.now()) {
        inbox.yield(.event(TimedEvent(event: event, at: instant)))
    }

    private func lookSoon() {
        let inbox = inbox
        Task {
            try? await Task.sleep(for: Self.lookDelay, clock: SuspendingClock())
            inbox.yield(.look)
        }
    }

    /// - Returns: whether this was the last event.
    private func handle(_ timed: TimedEvent) -> Bool {
        switch timed.event {
        case .pressed: announce(.button(isPressed: true), at: timed.at)
        case .released: announce(.button(isPressed: false), at: timed.at)
        case .voice(.microphone(let works), _): announce(.microphone(works: works), at: timed.at)
        case .voice(.speaker(let works), _): announce(.speaker(works: works), at: timed.at)
        case .heard, .spoken, .timer, .quit, .voice: break
        }
        let sentenceBefore = kiosk.state.sentence
        let faultBefore = kiosk.pattern.fault
        var isLast = false
        var opened: Call?
        for effect in kiosk.handle(timed.event, at: timed.at) {
            switch effect {
            case .connect(let number, let muted): opened = expect(number, muted: muted)
            case .cancelConnect: giveConnectUp()
            case .mute(let muted): mute(muted)
            case .silence:
                sound.silenceSpeech()
                call?.voice?.interrupt()
            case .close(let reason): close(reason)
            case .light(let pattern): show(pattern)
            case .sound(let earcon):
                if sound.play(earcon) { announce(.tone(earcon)) }
            case .finish: isLast = true
            }
        }
        // Last, and all of it in the background: the press is seen and heard first.
        if let opened { connect(opened) }
        setTimer()
        if let fault = kiosk.pattern.fault, fault != faultBefore { log.fault(fault) }
        if kiosk.state.sentence != sentenceBefore { health.show(kiosk.state.sentence) }
        return isLast
    }

    private func setTimer() {
        guard kiosk.deadline != timer?.deadline else { return }
        timer?.task.cancel()
        timer = kiosk.deadline.map { deadline in
            let task = Task { [weak self] in
                let wait = max(.zero, deadline - Instant.now())
                guard (try? await Task.sleep(for: wait, clock: SuspendingClock())) != nil, !Task.isCancelled, let self
                else { return }
                self.timer = nil
                self.post(.timer)
            }
            return (deadline, task)
        }
    }

    // MARK: Voices

    private func expect(_ number: Int, muted: Bool) -> Call {
        let call = Call(number, isMuted: muted)
        self.call = call
        sound.expectVoice(number)
        speech = SpeechPresence()
        return call
    }

    private func connect(_ call: Call) {
        opener.mute(call.isMuted)
        call.task = Task { await open(call) }
        metering.start(
            onFirstSound: { [weak self] in self?.announce(.firstSound, at: $0) },
            onReading: { [weak self] in self?.take($0) })
    }

    private func giveConnectUp() {
        call?.wasGivenUp = true
        call?.task?.cancel()
        sound.dismissVoice()
    }

    /// The voice may not be there yet: what is said while it is being opened is kept, unless it is muted.
    private func mute(_ muted: Bool) {
        guard let call else { return }
        call.isMuted = muted
        if let voice = call.voice { voice.mute(muted) } else { opener.mute(muted) }
    }

    private func take(_ reading: SoundMeter.Reading) {
        announce(.level(reading))
        if reading.speakerDBFS > SoundMeter.heardDBFS { post(.heard) }
        if speech.hears(reading.microphoneDBFS) { post(.spoken) }
    }

    /// Opens a voice; its outcome is posted exactly once.
    private func open(_ call: Call) async {
        var fault = Fault.unreachable
        do throws(PBVoiceError) {
            let voice = try await opener.connect(
                { [weak self, backend] offer in
                    let answer = try await backend.start(offer: offer)
                    let started = answer.started
                    call.keepAlive = answer.keepAlive
                    call.startedID = started.id
                    self?.announce(.voice(id: started.id))
                    return started
                },
                { [weak self] in self?.hear($0, of: call) }, { [weak self] in self?.follow($0, of: call) })
            if !call.wasGivenUp {
                call.voice = voice
                voice.mute(call.isMuted)
                if let wanted = call.keepAlive { keepAlive(call, wanted) }
                post(.voice(.opened(voice.state), call: call.number))
                return
            }
            voice.close()
        } catch {
            if !call.wasGivenUp || error.kind != .cancelled { report(error) }
            fault = Fault(error) ?? fault
        }
        if call === self.call {
            metering.stop()
            sound.dismissVoice()
        }
        tellBackend(call)
        opener.prepare()
        post(.voice(.refused(fault), call: call.number))
    }

    private func follow(_ state: PBVoiceState, of call: Call) {
        announce(.state(state))
        switch state {
        case .new, .connecting: break
        case .connected: log.info("Connected to the provider.")
        case .disconnected: log.warning("Nothing comes back from the provider; waiting for it.")
        case .failed: log.warning("The connection to the provider failed.")
        case .closed:
            log.info("The voice is closed.")
            // News of an earlier voice's end must not stop the next one's.
            if call === self.call { metering.stop() }
        }
        post(.voice(.state(state), call: call.number))
    }

    private func close(_ reason: CloseReason) {
        guard let call, let voice = call.voice else { return }
        call.voice = nil
        log.info(reason.sentence)
        announce(.closing(reason))
        sound.dismissVoice()
        voice.close()
        metering.stop()
        tellBackend(call)
        opener.prepare()
    }

    /// Tells the backend, in the background, that the voice it started is over.
    private func tellBackend(_ call: Call) {
        guard let id = call.startedID else { return }
        call.startedID = nil
        untoldCount += 1
        Task {
            do {
                let seconds = try await backend.close(voice: id)
                log.info("The backend closed the voice \(id)\(seconds.map { " after \($0) s" } ?? "").")
                announce(.closed(id: id, seconds: seconds))
            } catch {
                log.warning("The backend could not be told that the voice \(id) is over: \(error)")
                announce(.closed(id: id, seconds: nil))
            }
            untoldCount -= 1
            if untoldCount == 0 { allTold.fire() }
            backend.warm()
        }
    }

    // MARK: What is shown

    private func show(_ pattern: LEDPattern) {
        led.show(pattern.blink)
        announce(.led(pattern))
    }

    func announce(_ happening: Happening, at instant: Instant = Instant.now()) {
        for watcher in watchers { watcher.saw(happening, at: instant) }
    }
}

extension Instant {
    fileprivate init(_ event: ButtonEvent) {
        self.init(nanoseconds: event.at.wholeNanoseconds)
    }
}
