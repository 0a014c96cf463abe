/// The talk button, whatever it is made of: a GPIO line, a script, a keyboard.
public protocol Button: Sendable {
    /// Presses and releases in their order, decided (debounced), until the button is gone. Read by one reader only.
    var events: AsyncStream<ButtonEvent> { get }
}

/// One decided change of the talk button.
public struct ButtonEvent: Equatable, Sendable {
    /// The two ways a button changes.
    public enum Change: String, Sendable {
        case pressed
        case released
    }

    /// Which of the two it was.
    public var change: Change
    /// When it happened: time since the zero of CLOCK_MONOTONIC.
    public var at: Duration

    public init(_ change: Change, at: Duration) {
        self.change = change
        self.at = at
    }
}
