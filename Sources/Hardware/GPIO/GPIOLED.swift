/// The mute LED on a GPIO line. Lives on the main actor.
///
/// It never gives up: while the line is missing, busy or gone, `problem` says so and the line is asked for again every few seconds;
/// the LED then shows what it was last told. It is lit from the request on, so that no start looks like an open microphone.
@MainActor
public final class GPIOLED: LED {
    /// What is wrong, as a sentence with its cure; nil: nothing.
    public private(set) var problem: String?

    private let request: @MainActor (_ isLit: Bool) throws(GPIOError) -> any OutputLine
    private let clock: @MainActor () -> Duration
    private var line: (any OutputLine)?
    private var pattern = BlinkPattern.on
    private var patternSince: Duration
    private var turnTimer: GPIOTimer?
    private var tendTimer: GPIOTimer?

    /// An LED on this line, which is asked for by `start`, or by `show`.
    public convenience init(
        line: GPIOLineName, polarity: GPIOPolarity, drive: GPIODrive
    ) {
        let request = { @MainActor (isLit: Bool) throws(GPIOError) -> any OutputLine in
            try GPIOLine(line, .output(polarity, drive, isActive: isLit))
        }
        self.init(request: request, clock: GPIOTimer.now)
    }

    /// - Parameters:
    ///   - request: asks for the line, with the value that it has from then on.
    ///   - clock: time since the zero of CLOCK_MONOTONIC.
    init(
        request: @escaping @MainActor (_ isLit: Bool) throws(GPIOError) -> any OutputLine,
        clock: @escaping @MainActor () -> Duration
    ) {
        self.request = request
        self.clock = clock
        patternSince = clock()
    }

    /// Sets a line's LED to steady light and leaves it so, for a program that has died: what its line does afterwards is the driver's choice,
    /// and most keep the last value.
    /// - Throws: any `GPIOError`; the caller says it.
    public static func leaveLit(
        line: GPIOLineName, polarity: GPIOPolarity, drive: GPIODrive
    ) throws(GPIOError) {
        let line = try GPIOLine(line, .output(polarity, drive, isActive: true))
        try line.set(true)
    }

    /// Asks for the line, and serves it from now on for as long as the LED lives.
    public func start() {
        turnTimer = GPIOTimer { [weak self] in self?.drive() }
        let tendTimer = GPIOTimer { [weak self] in self?.drive() }
        tendTimer.set(every: GPIOButton.tendPeriod, leeway: .milliseconds(500))
        self.tendTimer = tendTimer
        drive()
    }

    /// Shows `pattern` from now on, until the next call; on a line that is missing, once it is there.
    public func show(_ pattern: BlinkPattern) {
        self.pattern = pattern
        patternSince = clock()
        drive()
    }

    /// Sets the line to what the pattern says now: at each turn, and every few seconds, in which a line that was missing is asked for and
    /// one that is gone is noticed.
    func drive() {
        let elapsed = clock() - patternSince
        let isLit = pattern.isLit(after: elapsed)
        do throws(GPIOError) {
            if let line {
                try line.set(isLit)
            } else {
                line = try request(isLit)
            }
            problem = nil
        } catch {
            line = nil
            problem = error.description
        }
        turnTimer?.set(in: line == nil ? nil : pattern.nextTurn(after: elapsed))
    }

}
