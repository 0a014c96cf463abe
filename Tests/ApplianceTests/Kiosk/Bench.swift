import VoiceCore

@testable import Appliance

/// A kiosk with a clock of its own that is moved on by hand. What it says to the ear is kept apart.
struct Bench {
    var kiosk: Kiosk
    var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var earcons: [Earcon] = []

    init(_ mode: TalkMode, _ change: (inout Configuration.Talk) -> Void = { _ in }) {
        var settings = Configuration.Talk()
        settings.mode = mode
        change(&settings)
        kiosk = Kiosk(settings)
    }

    /// A voice that is connected by a press of which the release is still to come.
    static func talking(_ mode: TalkMode, _ change: (inout Configuration.Talk) -> Void = { _ in }) -> Bench {
        var bench = Bench(mode, change)
        bench.connect()
        return bench
    }

    mutating func connect() {
        _ = send(.pressed)
        _ = news(.microphone(true))
        _ = news(.opened(.connecting))
        _ = news(.state(.connected))
    }

    /// - Returns: the effects without the earcons.
    mutating func send(_ event: KioskEvent) -> [KioskEffect] {
        kiosk.handle(event, at: now).filter { effect in
            guard case .sound(let earcon) = effect else { return true }
            earcons.append(earcon)
            return false
        }
    }

    mutating func news(_ news: VoiceNews) -> [KioskEffect] {
        send(.voice(news, call: kiosk.call))
    }

    /// A press and a release so short after it that it is a tap.
    mutating func tap() -> [KioskEffect] {
        let pressed = send(.pressed)
        let waited = wait(.milliseconds(200))
        return pressed + waited + send(.released)
    }

    /// Moves the clock on, waking the kiosk when it wants to be.
    mutating func wait(_ duration: Duration) -> [KioskEffect] {
        let end = now + duration
        var effects: [KioskEffect] = []
        while let deadline = kiosk.deadline, deadline <= end {
            now = max(now, deadline)
            effects += send(.timer)
        }
        now = end
        return effects
    }

    /// What was said to the ear since it was last asked.
    mutating func takeEarcons() -> [Earcon] {
        defer { earcons = [] }
        return earcons
    }
}
