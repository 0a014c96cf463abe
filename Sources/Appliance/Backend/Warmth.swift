import VoiceCore

/// Decides when the connection to the backend is opened ahead of the press that will want it. Pure.
///
/// A connection that the server closes is opened again: at once where it was of use, else at growing intervals, so that a
/// server with a short patience is not asked all day for nothing.
struct Warmth {
    /// The first and the longest interval between attempts that were of no use.
    static let intervals: ClosedRange<Duration> = .seconds(5) ... .seconds(240)

    /// When the next attempt is due; nil: none is.
    private(set) var deadline: Instant?
    private var isWanted = false
    private var isOpen = false
    private var isOpening = false
    private var interval = Self.intervals.lowerBound

    /// Somebody will want a connection soon.
    mutating func want(at now: Instant) {
        isWanted = true
        interval = Self.intervals.lowerBound
        if !isOpen && !isOpening { deadline = now }
    }

    /// Whether to open one now; it is then under way.
    mutating func isDue(at now: Instant) -> Bool {
        guard let deadline, deadline <= now, !isOpen, !isOpening else { return false }
        self.deadline = nil
        isOpening = true
        return true
    }

    /// A request of use has ended.
    mutating func used() {
        interval = Self.intervals.lowerBound
        if isWanted { deadline = nil }
        isOpen = false
    }

    /// The attempt to open one has ended.
    mutating func attempted() {
        isOpening = false
        isOpen = false
    }

    /// An open connection is at rest.
    mutating func opened() {
        isOpen = true
        deadline = nil
    }

    /// The connection could not be opened, or was closed by the server.
    /// - Parameter wasUsed: whether a request of use went through it.
    mutating func lost(wasUsed: Bool, at now: Instant) {
        isOpen = false
        guard isWanted else { return }
        if wasUsed {
            deadline = now
        } else {
            deadline = now + interval
            interval = min(interval * 2, Self.intervals.upperBound)
        }
    }

    mutating func stop() {
        isWanted = false
        deadline = nil
    }
}
