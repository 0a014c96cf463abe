/// One control of a card, as the driver describes it.
struct MixerElement: Equatable, Sendable {
    /// What tells it from every other control of the card, also after a restart.
    struct ID: Hashable, Sendable {
        /// As alsa-lib counts them (snd_ctl_elem_iface_t): 2 is the mixer's.
        var interface: Int
        var device: Int
        var subdevice: Int
        var name: String
        var index: Int

        /// What its name says.
        var meaning: ControlName { ControlName(name) }
    }

    enum Kind: Equatable, Sendable {
        case toggle
        case level(ClosedRange<Int>)
        /// One of these.
        case choice([String])
        /// What this program has no use for.
        case other
    }

    var id: ID
    var kind: Kind
    /// One a channel, as a rule.
    var valueCount: Int
    var isWritable: Bool

    /// What its name says.
    var meaning: ControlName { id.meaning }
}

/// What a control's name says by the kernel's convention (Documentation/sound/designs/control-names.rst): SOURCE [DIRECTION] FUNCTION.
/// Pure.
struct ControlName: Equatable, Sendable {
    enum Function: Equatable, Sendable {
        case toggle
        case level
        /// Which microphone is heard.
        case source
        /// Whether something is plugged in.
        case jack
        case other
    }

    /// "Headphone" in "Headphone Playback Switch"; empty where the name has none.
    let source: String
    /// nil: the name has none.
    let direction: SoundDirection?
    let function: Function

    init(_ name: String) {
        var words = name.split(separator: " ")
        switch words.last {
        case "Switch": function = .toggle
        case "Volume": function = .level
        case "Source": function = .source
        case "Jack": function = .jack
        default: function = .other
        }
        if function != .other { words.removeLast() }
        switch words.last {
        // "Input Source" and "Capture Source" are the two names of one thing.
        case "Capture", "Input": direction = .capture
        case "Playback": direction = .playback
        default: direction = nil
        }
        if direction != nil { words.removeLast() }
        source = words.joined(separator: " ")
    }

    /// Whether it switches a microphone off.
    var isCaptureSwitch: Bool { function == .toggle && direction == .capture }
}
