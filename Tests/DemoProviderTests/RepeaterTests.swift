import Testing

@testable import DemoProvider

@Suite struct RepeaterTests {
    /// 10 ms of a constant level: -6 dBFS is loud, 0 silent.
    private static func frame(_ level: Int16) -> [Int16] { [Int16](repeating: level, count: 480) }

    /// Lets it hear and speak frame by frame, and notes what it says.
    private struct Bench: ~Copyable {
        var repeater = Repeater(quietFrameLimit: 70)
        var said: [Int16] = []
        var events: [Repeater.Event] = []

        mutating func hear(_ level: Int16, frames: Int) {
            let heard = RepeaterTests.frame(level)
            var spoken = RepeaterTests.frame(0)
            for _ in 0..<frames {
                if let event = heard.withUnsafeBufferPointer({ repeater.hear($0) }) { events.append(event) }
                if let event = spoken.withUnsafeMutableBufferPointer({ repeater.speak(into: $0) }) {
                    events.append(event)
                }
                said.append(spoken[0])
            }
        }
    }

    @Test func anUtteranceIsRepeatedWholeAfterThePause() {
        var bench = Bench()
        bench.hear(0, frames: 100)
        bench.hear(8000, frames: 50)
        bench.hear(0, frames: 69)
        #expect(bench.events == [.hearing])
        #expect(bench.said.allSatisfy { $0 == 0 })
        bench.hear(0, frames: 200)
        #expect(bench.said.filter { $0 == 8000 }.count == 50)
        #expect(bench.events == [.hearing, .repeating(frameCount: 107), .repeated])
    }

    @Test func aPauseShorterThanTheLimitIsPartOfTheUtterance() {
        var bench = Bench()
        bench.hear(8000, frames: 20)
        bench.hear(0, frames: 60)
        bench.hear(4000, frames: 20)
        bench.hear(0, frames: 300)
        #expect(bench.said.filter { $0 == 8000 }.count == 20)
        #expect(bench.said.filter { $0 == 4000 }.count == 20)
    }

    @Test func silenceAndClicksAreNotRepeated() {
        var bench = Bench()
        for _ in 0..<20 {
            bench.hear(0, frames: 40)
            bench.hear(8000, frames: 2)
        }
        bench.hear(100, frames: 300)
        #expect(bench.events.isEmpty)
        #expect(bench.said.allSatisfy { $0 == 0 })
    }

    @Test func itFallsSilentWhenSpokenInto() {
        var bench = Bench()
        bench.hear(8000, frames: 100)
        bench.hear(0, frames: 90)
        bench.hear(4000, frames: 50)
        #expect(bench.events == [.hearing, .repeating(frameCount: 125), .interrupted])
        #expect(bench.said.suffix(40).allSatisfy { $0 == 0 })
        bench.hear(0, frames: 200)
        #expect(bench.said.filter { $0 == 4000 }.count == 50)
        #expect(bench.said.suffix(150).allSatisfy { $0 != 8000 })
    }

    @Test func ofAnUtteranceLongerThanItsMemoryTheEndIsRepeated() {
        var bench = Bench()
        bench.hear(8000, frames: 3000)
        bench.hear(4000, frames: 4000)
        bench.hear(0, frames: 6000)
        #expect(bench.said.filter { $0 == 4000 }.count == 4000)
        #expect(bench.said.filter { $0 == 8000 }.count == 975)
    }

    @Test func framesOfAnotherSizeAreNotTaken() {
        var repeater = Repeater(quietFrameLimit: 70)
        let event = [Int16](repeating: 8000, count: 100).withUnsafeBufferPointer { repeater.hear($0) }
        #expect(event == nil)
        var small = [Int16](repeating: 7, count: 100)
        let spoken = small.withUnsafeMutableBufferPointer { repeater.speak(into: $0) }
        #expect(spoken == nil)
        #expect(small.allSatisfy { $0 == 0 })
    }
}
