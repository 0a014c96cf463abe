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
        let total = turns.reduce(.zero, +)
        guard total > .zero else { return false }
        let milliseconds = { (duration: Duration) in
            // Whole milliseconds are fine enough for the eye.
            duration.components.seconds &* 1000 &+ duration.components.attoseconds / 1_000_000_000_000_000
        }
        var rest = max(0, milliseconds(elapsed)) % max(1, milliseconds(total))
        for (index, turn) in turns.enumerated() {
            rest -= milliseconds(turn)
            if rest < 0 { return index.isMultiple(of: 2) }
        }
        return false
    }
}
