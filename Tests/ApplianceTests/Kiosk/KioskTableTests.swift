import Glibc
import Testing
import VoiceCore

@testable import Appliance

/// The machine's whole table, state x event, as HANDBOOK.md prints it;
/// `TALKPOST_WRITE_FIXTURES=1 swift test --filter KioskTable` writes it there anew, to be read before it is committed.
@Suite struct KioskTableTests {
    private static let now = Instant(nanoseconds: 1_000_000_000_000)
    private static let past = now - .seconds(40)
    private static let later = now + .seconds(20)

    private static let gates: [(name: String, gate: Kiosk.Gate)] = [
        ("held", .held), ("tail", .tail(until: now)), ("shut", .shut(since: past)),
    ]

    /// Every state there is, each with its name in the table. What has a time to come has it now, so that `timer` is due.
    static let states: [(name: String, state: Kiosk.State)] = {
        var states: [(name: String, state: Kiosk.State)] = []
        func add(_ name: String, _ state: Kiosk.State) { states.append((name, state)) }
        add("idle", .idle)
        for (name, gate) in gates { add("connecting, \(name)", .connecting(gate, until: name == "tail" ? later : now)) }
        for (name, gate) in gates {
            add("answered, \(name)", .talking(gate, .connecting(until: name == "tail" ? later : now)))
        }
        for (name, gate) in gates { add("connected, \(name)", .talking(gate, .connected)) }
        for (name, gate) in gates { add("disconnected, \(name)", .talking(gate, .disconnected)) }
        add("closing", .closing(until: now, then: .idle))
        add("closing, then fault", .closing(until: now, then: .fault))
        add("closing, then connecting, held", .closing(until: now, then: .connect(.held)))
        add("closing, then connecting, tail", .closing(until: now, then: .connect(.tail(until: later))))
        add("closing, then connecting, shut", .closing(until: now, then: .connect(.shut(since: past))))
        add("closing, then end", .closing(until: now, then: .end))
        add("fault", .fault(until: now))
        add("ended", .ended)
        return states
    }()

    static let events: [(name: String, event: KioskEvent)] = [
        ("pressed", .pressed), ("released", .released), ("heard", .heard), ("timer", .timer), ("quit", .quit),
        ("opened", .voice(.opened(.connecting), call: 1)), ("refused", .voice(.refused, call: 1)),
        ("connected", .voice(.state(.connected), call: 1)), ("disconnected", .voice(.state(.disconnected), call: 1)),
        ("failed", .voice(.state(.failed), call: 1)), ("closed", .voice(.state(.closed), call: 1)),
    ]

    private static func name(_ state: Kiosk.State) -> String {
        func gate(_ gate: Kiosk.Gate) -> String {
            switch gate {
            case .held: "held"
            case .tail: "tail"
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
        case .connect: "connect"
        case .cancelConnect: "give connect up"
        case .mute(true): "mute"
        case .mute(false): "unmute"
        case .close(let reason): "close (\(reason))"
        case .light(let pattern): "LED \(pattern)"
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
                var kiosk = Kiosk(Configuration.Talk(), state: state, call: 1)
                let effects = kiosk.handle(event, at: now)
                guard kiosk.state != state || !effects.isEmpty else { continue }
                let next = name(kiosk.state) == stateName ? "the same, its time anew" : name(kiosk.state)
                lines.append("| \(stateName) | \(eventName) | \(next) | \(effects.map(name).joined(separator: ", ")) |")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test func theTableIsTheOneThatIsPrinted() throws {
        let table = Self.table()
        let handbook = String(decoding: try #require(repositoryFile("HANDBOOK.md")), as: UTF8.self)
        let start = try #require(handbook.firstRange(of: "| state | event |")?.lowerBound)
        let end = handbook[start...].firstRange(of: "\n\n")?.lowerBound ?? handbook.endIndex
        if getenv("TALKPOST_WRITE_FIXTURES") != nil {
            let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(
                separator: "/")
            let file = try #require(fopen("\(root)/HANDBOOK.md", "w"))
            fputs("\(handbook[..<start])\(table.dropLast())\(handbook[end...])", file)
            fclose(file)
        }
        #expect(table == handbook[start..<end] + "\n")
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
            for news: VoiceNews in [.opened(.connected), .refused] + PBVoiceState.allCases.map(VoiceNews.state) {
                var kiosk = Kiosk(Configuration.Talk(), state: state, call: 2)
                let effects = kiosk.handle(.voice(news, call: 1), at: Self.now)
                #expect(kiosk.state == state)
                #expect(effects.isEmpty)
            }
        }
    }
}
