/// Which level of a line counts as active: pressed for a button, lit for an LED.
public enum GPIOPolarity: String, CaseIterable, Sendable {
    /// About the supply's voltage.
    case high
    /// About ground.
    case low
}

/// What holds an input's level while nothing drives it.
public enum GPIOBias: String, CaseIterable, Sendable {
    case pullUp = "pull-up"
    case pullDown = "pull-down"
    /// Nothing in the chip: the board has a resistor of its own.
    case none
    /// Whatever the chip is set to.
    case asIs = "as-is"
}

/// How an output drives its line.
public enum GPIODrive: String, CaseIterable, Sendable {
    /// Both levels.
    case pushPull = "push-pull"
    /// Only the low level; a resistor makes the high one.
    case openDrain = "open-drain"
    /// Only the high level; a resistor makes the low one.
    case openSource = "open-source"
}
