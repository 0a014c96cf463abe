import Testing

@testable import Hardware

@MainActor
@Suite struct GPIOLEDTests {
    private let bench = Bench()
    private let blink = BlinkPattern(turns: [.milliseconds(500), .milliseconds(300)])

    @Test func itIsLitFromTheFirstMoment() {
        let led = bench.led()
        led.drive()
        #expect(bench.line.values == [true])
    }

    @Test func aPatternIsShownAtOnceAndTurnByTurn() {
        let led = bench.led()
        led.drive()
        led.show(.off)
        led.show(blink)
        bench.now += .milliseconds(500)
        led.drive()
        bench.now += .milliseconds(300)
        led.drive()
        #expect(bench.line.values == [true, false, true, false, true])
    }

    @Test func aLineThatComesLateShowsWhatWasSaidMeanwhile() {
        bench.refusal = .busy(line: "GPIO27", consumer: "lamp")
        let led = bench.led()
        led.drive()
        led.show(.off)
        #expect(led.problem == GPIOError.busy(line: "GPIO27", consumer: "lamp").description)
        bench.refusal = nil
        led.drive()
        #expect(bench.line.values == [false])
        #expect(led.problem == nil)
    }

    @Test func aChipThatGoesAwayIsNoticedAndAskedForAgain() {
        let led = bench.led()
        led.drive()
        bench.line.fault = .gone(line: "GPIO27")
        led.drive()
        #expect(led.problem == GPIOError.gone(line: "GPIO27").description)
        bench.line.fault = nil
        led.drive()
        #expect(bench.requestCount == 2)
        #expect(led.problem == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func aPatternTurnsByItself() async {
        let led = GPIOLED(
            request: { (_: Bool) throws(GPIOError) -> any OutputLine in bench.line }, clock: GPIOTimer.now)
        led.start()
        led.show(BlinkPattern(turns: [.milliseconds(20), .milliseconds(20)]))
        // A busy machine may skip a turn.
        while !bench.line.values.contains(false) { await Task.yield() }
        #expect(bench.line.values.first == true)
        led.show(.off)
    }
}
