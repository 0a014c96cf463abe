import Hardware
import Testing
import VoiceCore

@testable import Appliance

@Suite struct KeyboardTalkTests {
    /// What comes of strokes at these milliseconds: the changes with theirs.
    private func changes(_ strokes: [Int]) -> [String] {
        var talk = KeyboardTalk()
        var changes: [String] = []
        func note(_ change: ButtonEvent.Change?, _ at: Instant) {
            if let change { changes.append("\(change) \(at.nanoseconds / 1_000_000)") }
        }
        for stroke in strokes {
            let at = Instant(nanoseconds: Int64(stroke) * 1_000_000)
            while let deadline = talk.deadline, deadline <= at { note(talk.timePassed(at: deadline), deadline) }
            note(talk.struck(at: at), at)
        }
        while let deadline = talk.deadline { note(talk.timePassed(at: deadline), deadline) }
        return changes
    }

    @Test func aStrokePressesAndTheNextReleases() {
        #expect(changes([1000]) == ["pressed 1000"])
        #expect(changes([1000, 3000, 4000]) == ["pressed 1000", "released 3150", "pressed 4000"])
    }

    @Test func aHeldBarIsHeldUntilItsRepeatsStop() {
        let repeats = stride(from: 500, through: 2000, by: 33)
        #expect(changes([0] + Array(repeats)) == ["pressed 0", "released \(500 + 45 * 33 + 150)"])
    }
}
