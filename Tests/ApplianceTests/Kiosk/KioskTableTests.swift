import Glibc
import Testing
import VoiceCore

@testable import Appliance

/// The machine's tables as HANDBOOK.md prints them: state x event in the mode `auto`, which has all that the other modes have, and
/// what the modes make of a press; `TALKPOST_WRITE_FIXTURES=1 swift test --filter KioskTable` writes them there anew, to be read
/// before they are committed.
@Suite struct KioskTableTests {
    private static let now = Instant(nanoseconds: 1_000_000_000_000)
    private static let past = now - .seconds(40)
    private static let longAgo = now - .seconds(120)
    private static let later = now + .seconds(20)

    private static let gates: [(name: String, gate: Kiosk.Gate)] = [
        ("held", .held(Kiosk.OpenTime(since: longAgo, isWarned: true))), ("tail", .tail(until: now)),
        ("latched", .latched(Kiosk.OpenTime(since: past), quietSince: past)), ("shut", .shut(since: past)),
    ]

    /// Every state there is, each with its name in the table. What has a time to come has it now, so that `timer` is due.
    static let states: [(name: String, state: Kiosk.State)] = {
        var states: [(name: String, state: Kiosk.State)] = []
        func add(_ name: String, _ state: Kiosk.State) { states.append((name, state)) }
        add("idle", .idle)
        // The gate's own time comes first where it has one.
        let limits = ["held": later, "tail": later, "latched": now, "shut": now]
        for (name, gate) in gates { add("connecting, \(name)", .connecting(gate, until: limits[name] ?? now)) }
        for (name, gate) in gates { add("answered, \(name)", .talking(gate, .connecting(until: limits[name] ?? now))) }
        for (name, gate) in gates { add("connected, \(name)", .talking(gate, .connected)) }
        for (name, gate) in gates { add("disconnected, \(name)", .talking(gate, .disconnected(inUse: false))) }
        add("closing", .closing(until: now, then: .idle))
        add("closing, then fault", .closing(until: now, then: .fault(.unreachable)))
        for (name, gate) in gates {
            let kept: Kiosk.Gate = name == "tail" ? .tail(until: later) : gate
            add("closing, then connecting, \(name)", .closing(until: now, then: .connect(kept)))
        }
        add("closing, then end", .closing(until: now, then: .end))
        add("fault", .fault(.unreachable, until: now))
        add("ended", .ended)
        return states
    }()

    static let events: [(name: String, event: KioskEvent)] = [
        ("pressed", .pressed), ("released", .released), ("heard", .heard), ("spoken", .spoken),
        ("microphone lost", .voice(.microphone(false), call: 1)), ("speaker lost", .voice(.speaker(false), call: 1)),
        ("timer", .timer), ("quit", .quit),
        ("opened", .voice(.opened(.connecting), call: 1)), ("refused", .voice(.refused(.unreachable), call: 1)),
        ("connected", .voice(.state(.connected), call: 1)), ("disconnected", .voice(.state(.disconnected), call: 1)),
        ("failed", .voice(.state(.failed), call: 1)),
        ("expired", .voice(.expired, call: 1)), ("closed", .voice(.state(.closed), call: 1)),
    ]

    private static func name(_ state: Kiosk.State) -> String {
        func gate(_ gate: Kiosk.Gate) -> String {
            switch gate {
            case .held: "held"
            case .tail: "tail"
            case .latched: "latched"
            case .shut: "shut"
            }
        }
        return switch state {
        case .idle: "idle"
        case .connecting(let kept, _): "connecting, \(gate(kept))"
        case .talking(let kept, .connecting): "answered, \(gate(kept))"
        case .talking(let kept, .connected): "connected, \(gate(kept))"
        case .talking(let kept, .disconnected): "disconnected, \(gate(kept))"
        case .closing(_, .idle): "closing"
        case .closing(_, .fault): "closing, then fault"
        case .closing(_, .connect(let kept)): "closing, then connecting, \(gate(kept))"
        case .closing(_, .end): "closing, then end"
        case .fault: "fault"
        case .ended: "ended"
        }
    }

    private static func name(_ effect: KioskEffect) -> String {
        switch effect {
        case .connect(_, true): "connect muted"
        case .connect(_, false): "connect"
        case .cancelConnect: "give connect up"
        case .mute(true): "mute"
        case .mute(false): "unmute"
        case .close(let reason): "close (\(reason))"
        case .silence: "silence the provider"
        case .light(let pattern): "LED \(pattern.said)"
        case .sound(let earcon): "tone \(earcon.name)"
        case .finish: "finish"
        }
    }

    private static func table() -> String {
        var lines = [
            "| state | event | next state | effects, in order |",
            "| --- | --- | --- | --- |",
        ]
        for (stateName, state) in states {
            for (eventName, event) in events {
                var kiosk = Kiosk(Configuration.Talk(), state: state, call: 1, microphone: .working)
                let effects = kiosk.handle(event, at: now)
                guard kiosk.state != state || !effects.isEmpty else { continue }
                let sameName = kiosk.state == state ? "the same" : "the same, its time anew"
                let next = name(kiosk.state) == stateName ? sameName : name(kiosk.state)
                lines.append("| \(stateName) | \(eventName) | \(next) | \(effects.map(name).joined(separator: ", ")) |")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private struct Turn {
        var when: String
        var state: Kiosk.State
        var event: KioskEvent
    }

    /// What the modes differ in: the gate, at the visitor's hand and in time.
    private static let turns: [Turn] = {
        var turns: [Turn] = []
        func add(_ when: String, _ state: Kiosk.State, _ event: KioskEvent) {
            turns.append(Turn(when: when, state: state, event: event))
        }
        let second = now - .seconds(1)
        let tap = Kiosk.OpenTime(since: now - .milliseconds(200))
        let open = Kiosk.OpenTime(since: second)
        let warned = Kiosk.OpenTime(since: longAgo, isWarned: true)
        let unwarned = Kiosk.OpenTime(since: now - .seconds(115))
        add("no voice: pressed", .idle, .pressed)
        add("held: released after 0.2 s", .talking(.held(tap), .connected), .released)
        add("held: released after 1 s", .talking(.held(open), .connected), .released)
        add("held: 5 s before the transmit limit", .talking(.held(unwarned), .connected), .timer)
        add("held: transmit limit", .talking(.held(warned), .connected), .timer)
        add("latched: pressed", .talking(.latched(open, quietSince: second), .connected), .pressed)
        add("latched: released", .talking(.latched(open, quietSince: second), .connected), .released)
        add("latched: idle end", .talking(.latched(open, quietSince: past), .connected), .timer)
        add("latched: transmit limit", .talking(.latched(warned, quietSince: second), .connected), .timer)
        add("shut: pressed", .talking(.shut(since: second), .connected), .pressed)
        add("shut: idle end", .talking(.shut(since: past), .connected), .timer)
        return turns
    }()

    private static func modes() -> String {
        let names = TalkMode.allCases.map(\.rawValue)
        var lines = [
            "| gate, and what happens | \(names.joined(separator: " | ")) |",
            "| --- |\(names.map { _ in " --- |" }.joined())",
        ]
        for turn in turns {
            let cells = TalkMode.allCases.map { mode in
                var settings = Configuration.Talk()
                settings.mode = mode
                var kiosk = Kiosk(settings, state: turn.state, call: 1, microphone: .working)
                let effects = kiosk.handle(turn.event, at: now)
                let isUnchanged = kiosk.state == turn.state && effects.isEmpty
                return isUnchanged ? "" : ([name(kiosk.state)] + effects.map(name)).joined(separator: "; ")
            }
            lines.append("| \(turn.when) | \(cells.joined(separator: " | ")) |")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test func theTablesAreThoseThatArePrinted() throws {
        var handbook = String(decoding: try #require(repositoryFile("HANDBOOK.md")), as: UTF8.self)
        for table in [Self.table(), Self.modes()] {
            let heading = try #require(table.split(separator: "\n").first)
            let start = try #require(
                handbook.firstRange(of: heading)?.lowerBound, "HANDBOOK.md has no table \(heading)")
            let end = handbook[start...].firstRange(of: "\n\n")?.lowerBound ?? handbook.endIndex
            if getenv("TALKPOST_WRITE_FIXTURES") == nil {
                #expect(table == handbook[start..<end] + "\n")
            } else {
                handbook.replaceSubrange(start..<end, with: table.dropLast())
            }
        }
        guard getenv("TALKPOST_WRITE_FIXTURES") != nil else { return }
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        let file = try #require(fopen("\(root)/HANDBOOK.md", "w"))
        fputs(handbook, file)
        fclose(file)
    }

    @Test func theTableHasEveryStateOnce() {
        let names = Self.states.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Self.states.map { Self.name($0.state) } == names)
    }

    @Test func timeThatIsNotYetDueChangesNothing() {
        for (_, state) in Self.states {
            var kiosk = Kiosk(Configuration.Talk(), state: state, call: 1)
            let due = kiosk.deadline ?? Self.now
            let effects = kiosk.handle(.timer, at: due - .milliseconds(1))
            #expect(kiosk.state == state)
            #expect(effects.isEmpty)
        }
    }

    @Test func newsOfAnEarlierVoiceChangeNothing() {
        for (_, state) in Self.states {
            for news: VoiceNews in [
                .opened(.connected), .refused(.unreachable), .microphone(true), .microphone(false), .speaker(false),
                .expired, .expires(Self.now),
            ]
                + PBVoiceState.allCases.map(VoiceNews.state)
            {
                var kiosk = Kiosk(Configuration.Talk(), state: state, call: 2)
                let effects = kiosk.handle(.voice(news, call: 1), at: Self.now)
                #expect(kiosk.state == state)
                #expect(effects.isEmpty)
            }
        }
    }
}
