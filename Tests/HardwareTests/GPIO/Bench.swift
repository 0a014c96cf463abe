import Glibc

@testable import Hardware

/// A line on a test's bench: what it does, the test says. Lives on the main actor.
@MainActor
final class BenchLine: InputLine, OutputLine {
    var level = false
    var waiting: [GPIOEdge] = []
    var isFull = false
    /// Thrown by whatever is asked of it next.
    var fault: GPIOError?
    /// The values that it was set to, in order.
    private(set) var values: [Bool] = []

    /// The reading end of a pipe whose bytes stand for edges, where a test wants one.
    var descriptor: Int32 = -1

    func isActive() throws(GPIOError) -> Bool {
        if let fault { throw fault }
        return level
    }

    func takeEdges() throws(GPIOError) -> (edges: [GPIOEdge], isFull: Bool) {
        if let fault { throw fault }
        if descriptor >= 0 {
            var byte: UInt8 = 0
            read(descriptor, &byte, 1)
        }
        defer { (waiting, isFull) = ([], false) }
        return (waiting, isFull)
    }

    func set(_ isActive: Bool) throws(GPIOError) {
        if let fault { throw fault }
        values.append(isActive)
    }
}

/// A bench with one line and a clock that stands until it is moved. Lives on the main actor.
@MainActor
final class Bench {
    var now: Duration = .seconds(100)
    let line = BenchLine()
    /// Thrown in place of the line.
    var refusal: GPIOError?
    private(set) var requestCount = 0

    func request() throws(GPIOError) -> BenchLine {
        requestCount += 1
        if let refusal { throw refusal }
        return line
    }

    func button() -> GPIOButton {
        GPIOButton(
            request: { () throws(GPIOError) -> any InputLine in try self.request() }, clock: { self.now })
    }

    func led() -> GPIOLED {
        GPIOLED(
            request: { (isLit: Bool) throws(GPIOError) -> any OutputLine in
                let line = try self.request()
                try line.set(isLit)
                return line
            },
            clock: { self.now })
    }
}
