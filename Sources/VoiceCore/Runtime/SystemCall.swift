internal import Glibc

/// A system call that failed: which, and the kernel's reason.
struct SystemCallError: Error, CustomStringConvertible {
    var call: String
    var number: Int32

    var reason: String { String(cString: strerror(number)) }
    var description: String { "\(call): \(reason)" }
}

/// Calls `body` again for as long as a signal interrupts it.
/// - Throws: `SystemCallError` with the call's name where it gave -1.
@discardableResult
func checked<Result: SignedInteger>(_ call: StaticString, _ body: () -> Result) throws(SystemCallError) -> Result {
    while true {
        let result = body()
        if result != -1 { return result }
        let number = errno
        if number != EINTR { throw SystemCallError(call: "\(call)", number: number) }
    }
}

extension Instant {
    /// CLOCK_MONOTONIC now. Only Runtime and the applications may ask.
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }
}

extension Entropy {
    /// Fed by the kernel's generator (getrandom(2)).
    static let system = Entropy {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
