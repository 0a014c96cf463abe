import Dispatch
import Glibc

/// A talk button on a GPIO line. Lives on the main actor.
///
/// It never gives up: while the line is missing, busy or gone, `problem` says so and the line is asked for again every few seconds;
/// presses come once it is there. What is a press, the `Debouncer` decides.
@MainActor
public final class GPIOButton: Button {
    /// Presses and releases; it never ends.
    public nonisolated let events: AsyncStream<ButtonEvent>
    /// What is wrong, as a sentence with its cure; nil: nothing.
    public private(set) var problem: String?

    private let changes: AsyncStream<ButtonEvent>.Continuation
    private let request: @MainActor () throws(GPIOError) -> any InputLine
    private let clock: @MainActor () -> Duration
    private var held: Held?
    private var source: (any DispatchSourceRead)?
    private var decisionTimer: GPIOTimer?
    private var tendTimer: GPIOTimer?

    /// How often the line is looked after: asked for again, or read to find out whether it is still there.
    static let tendPeriod: Duration = .seconds(3)

    private struct Held {
        var line: any InputLine
        var debouncer: Debouncer
    }

    /// A button on this line, which is not asked for before `start`.
    public convenience init(
        line: GPIOLineName, polarity: GPIOPolarity, bias: GPIOBias
    ) {
        let request = { @MainActor () throws(GPIOError) -> any InputLine in
            try GPIOLine(line, .input(polarity, bias))
        }
        self.init(request: request, clock: GPIOTimer.now)
    }

    /// - Parameters:
    ///   - request: asks for the line.
    ///   - clock: time since the zero of CLOCK_MONOTONIC.
    init(
        request: @escaping @MainActor () throws(GPIOError) -> any InputLine, clock: @escaping @MainActor () -> Duration
    ) {
        self.request = request
        self.clock = clock
        (events, changes) = AsyncStream.makeStream()
    }

    /// Asks for the line, and serves it from now on for as long as the button lives.
    public func start() {
        let decisionTimer = GPIOTimer { [weak self] in self?.decide() }
        self.decisionTimer = decisionTimer
        let tendTimer = GPIOTimer { [weak self] in self?.tend() }
        tendTimer.set(every: Self.tendPeriod, leeway: .milliseconds(500))
        self.tendTimer = tendTimer
        tend()
    }

    // MARK: What calls come from Dispatch

    /// Looks after the line: asks for it where it is missing, and reads it where it is there.
    func tend() {
        if held == nil { acquire() } else { decide() }
    }

    /// Takes the edges that wait.
    func readEdges() {
        guard let held else { return }
        do throws(GPIOError) {
            let taken = try held.line.takeEdges()
            for edge in taken.edges { tell(self.held?.debouncer.handle(edge, at: clock())) }
            if taken.isFull {
                let isActive = try held.line.isActive()
                tell(self.held?.debouncer.handle(level: isActive, mayHaveLost: true, at: clock()))
            }
        } catch {
            lose(error)
        }
        review()
    }

    /// Decides by what the level has been, which is read again, so that an edge that was lost cannot lead to a wrong decision.
    func decide() {
        readEdges()
        guard let held else { return }
        do throws(GPIOError) {
            let isActive = try held.line.isActive()
            tell(self.held?.debouncer.handle(level: isActive, mayHaveLost: false, at: clock()))
        } catch {
            lose(error)
        }
        review()
    }

    /// When `decide` is wanted; nil: not before the next edge.
    var deadline: Duration? { held?.debouncer.deadline }

    // MARK: The line

    private func acquire() {
        do throws(GPIOError) {
            let line = try request()
            held = Held(line: line, debouncer: Debouncer(isActive: try line.isActive(), at: clock()))
            watch(line.descriptor)
        } catch {
            lose(error)
        }
        review()
    }

    private func watch(_ descriptor: Int32) {
        // Dispatch's own, as it may still watch it when the line is given back.
        let copy = dup(descriptor)
        guard decisionTimer != nil, copy >= 0 else { return }
        let source = DispatchSource.makeReadSource(fileDescriptor: copy, queue: .main)
        // Dispatch calls it on the main queue, which is the main actor's.
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.readEdges() } }
        source.setCancelHandler { close(copy) }
        source.resume()
        self.source = source
    }

    /// Lets go of the line. Whoever held the button cannot release it any more: that is told here.
    private func lose(_ error: GPIOError) {
        source?.cancel()
        source = nil
        if case .pressed = held?.debouncer.contact { changes.yield(ButtonEvent(.released, at: clock())) }
        held = nil
        problem = error.description
    }

    // MARK: What is told

    private func tell(_ event: ButtonEvent?) {
        if let event { changes.yield(event) }
    }

    private func review() {
        guard let held else { return }
        let now = clock()
        decisionTimer?.set(in: held.debouncer.deadline.map { $0 - now })
        problem = held.debouncer.contact.diagnosis(at: now)
    }

}
