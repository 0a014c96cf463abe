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
