import Testing

@testable import Hardware

@Suite struct DebouncerTests {
    /// "+12" closes the contact after 12 ms, "-30" opens it after 30 ms.
    private struct Contact {
        var edges: [GPIOEdge]

        init(_ text: String) {
            edges = text.split(separator: " ").map { word in
                GPIOEdge(isActive: word.first == "+", at: .milliseconds(Int(word.dropFirst()) ?? 0))
            }
        }
    }

    /// "+12" is a press at 12 ms, "-30" a release at 30 ms.
    private func told(_ events: [ButtonEvent]) -> String {
        events.map { "\($0.change == .pressed ? "+" : "-")\($0.at / .milliseconds(1))" }.joined(separator: " ")
    }

    @Test(
        arguments: [
            ("a press", "+100 -200", "+100.0 -200.0"),
            ("a press of 40 ms", "+100 -140", "+100.0 -140.0"),
            (
                "a press of 40 ms that bounces for 10 ms at either end",
                "+100 -102 +105 -108 +110 -130 +133 -136 +137 -140", "+110.0 -140.0"
            ),
            ("a spike", "+100 -101", ""),
            ("a long spike", "+100 -119", ""),
            ("a spike that is over before the kernel reads the level", "-100 -100", ""),
            ("a spike while pressed", "+100 -200 +201 -300", "+100.0 -300.0"),
            ("a burst of bounces that comes to nothing", "+100 -110 +115 -125 +130 -145 +150 -165 +170 -171", ""),
            ("bounces at both ends", "+100 -101 +102 -103 +104 -200 +201 -202 +203 -205", "+104.0 -205.0"),
            (
                "bounces for as long as 200 ms",
                "+0 -10 +20 -30 +40 -50 +60 -70 +80 -90 +100 -110 +120 -130 +140 -150 +160 -170 +180 -190 +200 -300",
                "+200.0 -300.0"
            ),
            ("presses in quick order", "+100 -140 +180 -220 +260 -300", "+100.0 -140.0 +180.0 -220.0 +260.0 -300.0"),
            ("a lost release between two presses", "+100 +200 -300", "+100.0 -300.0"),
            ("a lost press between two releases", "+100 -200 -300", "+100.0 -200.0"),
            ("an edge that is older than the one before it", "+100 -50 +120 -200", "+120.0 -200.0"),
            ("a spike with an edge that is older than the one before it", "+100 +50 -110", ""),
        ] as [(String, String, String)])
    func aListOfEdgesBecomesPressesAndReleases(what: String, edges: String, expected: String) {
        #expect(told(play(Contact(edges).edges)) == expected, "\(what)")
    }

    @Test(arguments: [1, 7, 20, 35, 250, 1000])
    func aThreadThatLooksSeldomDecidesTheSame(period: Int) {
        let edges = Contact("+100 -101 +102 -160 +161 -162 +400 -440 +441 -442 +500 -510").edges
        var debouncer = Debouncer(isActive: false, at: .zero)
        var events: [ButtonEvent?] = []
        var rest = edges[...]
        var level = false
        for turn in 1...(2000 / period) {
            let now: Duration = .milliseconds(turn * period)
            while let edge = rest.first, edge.at <= now {
                rest.removeFirst()
                level = edge.isActive
                events.append(debouncer.handle(edge, at: now))
            }
            events.append(debouncer.handle(level: level, mayHaveLost: false, at: now))
        }
        #expect(told(events.compactMap(\.self)) == "+102.0 -162.0 +400.0 -442.0")
    }

    @Test func aLevelIsDecided20MillisecondsAfterItsLastEdge() {
        var debouncer = Debouncer(isActive: false, at: .zero)
        #expect(debouncer.deadline == nil)
        _ = debouncer.handle(GPIOEdge(isActive: true, at: .milliseconds(100)), at: .milliseconds(103))
        #expect(debouncer.deadline == .milliseconds(120))
        #expect(debouncer.handle(level: true, mayHaveLost: false, at: .milliseconds(119)) == nil)
        let event = debouncer.handle(level: true, mayHaveLost: false, at: .milliseconds(120))
        #expect(event == ButtonEvent(.pressed, at: .milliseconds(100)))
        #expect(debouncer.deadline == nil)
    }

    @Test func aContactThatIsClosedFromTheStartCountsOnlyOnceItWasReleased() {
        #expect(told(play(Contact("-5000 +6000 -6100").edges, startsActive: true)) == "+6000.0 -6100.0")
        #expect(told(play(Contact("-5000 +5010 -6000 +6010").edges, startsActive: true)) == "")
    }

    @Test func aStuckContactIsNamedAndNothingElse() {
        var debouncer = Debouncer(isActive: true, at: .zero)
        #expect(debouncer.contact.diagnosis(at: .milliseconds(900)) == nil)
        #expect(debouncer.contact.diagnosis(at: .seconds(1))?.contains("since before the start") == true)
        #expect(debouncer.handle(level: true, mayHaveLost: false, at: .seconds(3600)) == nil)
        _ = debouncer.handle(GPIOEdge(isActive: false, at: .seconds(3601)), at: .seconds(3601))
        #expect(debouncer.handle(level: false, mayHaveLost: false, at: .seconds(3602)) == nil)
        #expect(debouncer.contact.diagnosis(at: .seconds(3602)) == nil)
    }

    @Test func aPressOfMoreThanAMinuteIsNamedAndStaysAPress() {
        var debouncer = Debouncer(isActive: false, at: .zero)
        _ = debouncer.handle(GPIOEdge(isActive: true, at: .seconds(10)), at: .seconds(10))
        _ = debouncer.handle(level: true, mayHaveLost: false, at: .seconds(11))
        #expect(debouncer.contact.diagnosis(at: .seconds(69)) == nil)
        #expect(debouncer.contact.diagnosis(at: .seconds(70))?.contains("more than 60 s") == true)
        #expect(debouncer.handle(level: true, mayHaveLost: false, at: .seconds(71)) == nil)
        #expect(debouncer.contact == .pressed(since: .seconds(10)))
    }

    @Test func anEdgeThatWasLostShowsInTheLevel() {
        var debouncer = Debouncer(isActive: false, at: .zero)
        #expect(debouncer.handle(level: true, mayHaveLost: false, at: .milliseconds(500)) == nil)
        #expect(debouncer.deadline == .milliseconds(520))
        let event = debouncer.handle(level: true, mayHaveLost: false, at: .milliseconds(520))
        #expect(event == ButtonEvent(.pressed, at: .milliseconds(500)))
    }

    @Test func afterALossTheSameLevelMustLastAnew() {
        var debouncer = Debouncer(isActive: false, at: .zero)
        _ = debouncer.handle(GPIOEdge(isActive: true, at: .milliseconds(100)), at: .milliseconds(100))
        #expect(debouncer.handle(level: true, mayHaveLost: true, at: .milliseconds(150)) == nil)
        #expect(debouncer.deadline == .milliseconds(170))
    }

    @Test func theTimeBeforeALostEdgeDecidesNothing() {
        var debouncer = Debouncer(isActive: false, at: .zero)
        _ = debouncer.handle(GPIOEdge(isActive: true, at: .milliseconds(100)), at: .milliseconds(100))
        let edge = GPIOEdge(isActive: false, at: .milliseconds(160), followsLoss: true)
        #expect(debouncer.handle(edge, at: .milliseconds(160)) == nil)
        #expect(debouncer.deadline == nil)
    }

    @Test func timesOfTheWallClockCountAsNow() {
        var debouncer = Debouncer(isActive: false, at: .seconds(5))
        let edge = GPIOEdge(isActive: true, at: .seconds(1_800_000_000))
        #expect(debouncer.handle(edge, at: .seconds(6)) == nil)
        #expect(debouncer.deadline == .seconds(6) + Debouncer.stablePeriod)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func noPressIsLostOrInventedAndEachIsDecidedInTime(seed: UInt64) {
        var random = SplitMix(seed)
        var edges: [GPIOEdge] = []
        var presses: [(pressed: Duration, released: Duration)] = []
        var now: Duration = .milliseconds(50)

        func wait(_ microseconds: ClosedRange<Int>) { now += .microseconds(random.in(microseconds)) }
        func put(_ isActive: Bool) { edges.append(GPIOEdge(isActive: isActive, at: now)) }
        /// Changes the level, with bounces for at most 10 ms; the level is stable from `now` on.
        func turn(_ isActive: Bool) {
            put(isActive)
            for _ in 0..<random.in(0...5) {
                wait(10...1_000)
                put(!isActive)
                wait(10...900)
                put(isActive)
            }
        }
        for _ in 0..<30 {
            for _ in 0..<random.in(0...3) {
                put(true)
                wait(1...15_000)
                put(false)
                wait(25_000...60_000)
            }
            let closes = now
            turn(true)
            let pressed = now
            now = max(pressed + Debouncer.stablePeriod, closes + .milliseconds(30))
            wait(0...300_000)
            turn(false)
            presses.append((pressed, now))
            wait(25_000...200_000)
        }
        var decisions: [(event: ButtonEvent, at: Duration)] = []
        _ = play(edges) { decisions.append(($0, $1)) }
        let expected = presses.flatMap { press -> [ButtonEvent] in
            [ButtonEvent(.pressed, at: press.pressed), ButtonEvent(.released, at: press.released)]
        }
        #expect(decisions.map(\.event) == expected)
        #expect(decisions.allSatisfy { $0.at - $0.event.at <= .milliseconds(30) })
    }

    /// Plays a contact's edges as the kernel gives them, each read at once, with every deadline kept.
    private func play(
        _ edges: [GPIOEdge], startsActive: Bool = false, decided: (ButtonEvent, Duration) -> Void = { _, _ in }
    ) -> [ButtonEvent] {
        var debouncer = Debouncer(isActive: startsActive, at: .zero)
        var events: [ButtonEvent] = []
        var level = startsActive

        func take(_ event: ButtonEvent?, at now: Duration) {
            guard let event else { return }
            events.append(event)
            decided(event, now)
        }
        func wake(before instant: Duration?) {
            while let deadline = debouncer.deadline, instant.map({ deadline < $0 }) ?? true {
                take(debouncer.handle(level: level, mayHaveLost: false, at: deadline), at: deadline)
            }
        }
        for edge in edges {
            wake(before: edge.at)
            take(debouncer.handle(edge, at: edge.at), at: edge.at)
            level = edge.isActive
        }
        wake(before: nil)
        return events
    }
}

/// The same numbers for the same seed (SplitMix64), so that a test that fails can be run again.
private struct SplitMix {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func `in`(_ range: ClosedRange<Int>) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
        return range.lowerBound + Int((z ^ z >> 31) % UInt64(range.count))
    }
}
