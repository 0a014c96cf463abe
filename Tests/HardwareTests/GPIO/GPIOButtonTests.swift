import Glibc
import Testing

@testable import Hardware

@MainActor
@Suite struct GPIOButtonTests {
    private let bench = Bench()

    /// The events so far. Reading them ends the button's stream.
    private func events(of button: GPIOButton, count: Int) async -> [ButtonEvent] {
        var events: [ButtonEvent] = []
        guard count > 0 else { return [] }
        for await event in button.events {
            events.append(event)
            if events.count == count { break }
        }
        return events
    }

    private func change(_ isActive: Bool, at instant: Duration) {
        bench.line.level = isActive
        bench.line.waiting.append(GPIOEdge(isActive: isActive, at: instant))
        bench.now = instant
    }

    @Test func edgesBecomeAPressOnceTheyAreDecided() async {
        let button = bench.button()
        button.tend()
        change(true, at: .seconds(101))
        button.readEdges()
        #expect(button.deadline == .milliseconds(101_020))
        bench.now = .milliseconds(101_021)
        button.decide()
        #expect(button.deadline == nil)
        #expect(await events(of: button, count: 1) == [ButtonEvent(.pressed, at: .seconds(101))])
        #expect(button.problem == nil)
    }

    @Test func aLineThatIsMissingIsToldAndServedOnceItIsThere() async {
        bench.refusal = .noChips
        let button = bench.button()
        button.tend()
        button.tend()
        #expect(button.problem == GPIOError.noChips.description)
        bench.refusal = nil
        button.tend()
        #expect(button.problem == nil)
        change(true, at: .seconds(101))
        change(false, at: .seconds(102))
        button.readEdges()
        #expect(await events(of: button, count: 1) == [ButtonEvent(.pressed, at: .seconds(101))])
    }

    @Test func aLineThatIsThereIsNotAskedForAgain() {
        let button = bench.button()
        button.tend()
        button.tend()
        #expect(bench.requestCount == 1)
    }

    @Test func aButtonWhoseChipGoesAwayWhilePressedIsReleased() async {
        let button = bench.button()
        button.tend()
        change(true, at: .seconds(101))
        button.readEdges()
        bench.now = .seconds(102)
        button.decide()
        bench.line.fault = .gone(line: "GPIO17")
        bench.now = .seconds(103)
        button.readEdges()
        #expect(button.problem == GPIOError.gone(line: "GPIO17").description)
        let expected = [ButtonEvent(.pressed, at: .seconds(101)), ButtonEvent(.released, at: .seconds(103))]
        #expect(await events(of: button, count: 2) == expected)
    }

    @Test func aChipThatComesBackIsServedAgain() async {
        let button = bench.button()
        button.tend()
        bench.line.fault = .gone(line: "GPIO17")
        button.tend()
        #expect(button.problem == GPIOError.gone(line: "GPIO17").description)
        bench.line.fault = nil
        button.tend()
        #expect(button.problem == nil)
        change(true, at: .seconds(101))
        change(false, at: .seconds(102))
        button.readEdges()
        #expect(await events(of: button, count: 1).map(\.change) == [.pressed])
    }

    @Test func afterMoreEdgesThanTheKernelKeepsTheLevelIsReadAgain() {
        let button = bench.button()
        button.tend()
        change(false, at: .seconds(101))
        bench.line.level = true
        bench.line.isFull = true
        button.readEdges()
        #expect(button.deadline == .milliseconds(101_020))
    }

    @Test func anEdgeThatGotLostIsFoundWhenTheLineIsLookedAfter() {
        let button = bench.button()
        button.tend()
        bench.line.level = true
        bench.now = .seconds(103)
        button.tend()
        #expect(button.deadline == .milliseconds(103_020))
    }

    @Test func aButtonThatIsPressedFromTheStartIsNamedUntilItIsReleased() {
        bench.line.level = true
        let button = bench.button()
        button.tend()
        #expect(button.problem == nil)
        bench.now = .seconds(103)
        button.tend()
        #expect(button.problem?.contains("since before the start") == true)
        change(false, at: .seconds(104))
        button.readEdges()
        bench.now = .seconds(105)
        button.decide()
        #expect(button.problem == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func anEdgeWakesTheButtonAndItsTimerDecides() async {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        bench.line.descriptor = ends[0]
        let button = GPIOButton(
            request: { () throws(GPIOError) -> any InputLine in bench.line }, clock: GPIOTimer.now)
        button.start()
        let pressed = GPIOTimer.now()
        change(true, at: pressed)
        write(ends[1], [1], 1)
        #expect(await events(of: button, count: 1) == [ButtonEvent(.pressed, at: pressed)])
        #expect(GPIOTimer.now() - pressed >= Debouncer.stablePeriod)
        // Its own descriptor of the pipe is the button's until the end of the program.
        close(ends[1])
        close(ends[0])
    }
}
