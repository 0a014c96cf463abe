/// The mute LED, whatever it is made of: a GPIO line, a terminal. Lives on the main actor.
@MainActor
public protocol LED: AnyObject {
    /// Shows `pattern` from now on, until the next call.
    func show(_ pattern: BlinkPattern)
}

/// What an LED does: steady, or on and off in turns that repeat.
public struct BlinkPattern: Equatable, Sendable {
    /// On first, then off, and so on; one element is steady light, none is darkness.
    public var turns: [Duration]

    public init(turns: [Duration]) {
        self.turns = turns
    }

    /// Steady light.
    public static let on = BlinkPattern(turns: [.seconds(1)])
    /// Darkness.
    public static let off = BlinkPattern(turns: [])
}

extension BlinkPattern {
    /// Whether the light is on this long after the pattern began. Pure; a negative time counts as its beginning.
    public func isLit(after elapsed: Duration) -> Bool {
        turn(after: elapsed)?.index.isMultiple(of: 2) ?? false
    }

    /// How long it is until the next turn; nil where the light is steady or dark for good. Pure.
    func nextTurn(after elapsed: Duration) -> Duration? {
        guard turns.count > 1, let turn = turn(after: elapsed) else { return nil }
        return .milliseconds(turn.rest)
    }

    /// Which turn it is, and how many milliseconds of it are left, at least one; nil where there is none.
    private func turn(after elapsed: Duration) -> (index: Int, rest: Int64)? {
        let milliseconds = { (duration: Duration) in
            // Whole milliseconds are fine enough for the eye.
            duration.components.seconds &* 1000 &+ duration.components.attoseconds / 1_000_000_000_000_000
        }
        let total = milliseconds(turns.reduce(.zero, +))
        guard total > 0 else { return nil }
        var rest = max(0, milliseconds(elapsed)) % total
        for (index, turn) in turns.enumerated() {
            rest -= milliseconds(turn)
            if rest < 0 { return (index, -rest) }
        }
        return nil
    }
}
