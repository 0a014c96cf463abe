import Hardware
import VoiceCore

/// Makes presses and releases of a space bar, of which a terminal tells only that it was struck. Pure.
///
/// A stroke presses, the next one releases. Held down, the bar repeats itself: the button is then held until the repeats stop.
struct KeyboardTalk: Sendable {
    private enum State: Equatable, Sendable {
        case released
        /// Pressed by a stroke.
        case pressed
        /// A second stroke came: a release, unless it is the first of the bar's repeats.
        case undecided(until: Instant)
        /// The bar repeats.
        case repeating(until: Instant)
    }

    /// Longer than a pause between two repeats (the kernel's is 33 ms, desktops' up to 100 ms), shorter than between two strokes.
    static let repeatGap: Duration = .milliseconds(150)

    private var state = State.released

    /// When `timePassed` is wanted; nil: not before the next stroke.
    var deadline: Instant? {
        switch state {
        case .released, .pressed: nil
        case .undecided(let until), .repeating(let until): until
        }
    }

    /// The bar was struck.
    mutating func struck(at now: Instant) -> ButtonEvent.Change? {
        switch state {
        case .released:
            state = .pressed
            return .pressed
        case .pressed: state = .undecided(until: now + Self.repeatGap)
        case .undecided, .repeating: state = .repeating(until: now + Self.repeatGap)
        }
        return nil
    }

    /// The deadline has come.
    mutating func timePassed(at now: Instant) -> ButtonEvent.Change? {
        guard let deadline, deadline <= now else { return nil }
        state = .released
        return .released
    }
}
