/// A GPIO chip as the kernel describes it. A value.
public struct GPIOChip: Equatable, Sendable {
    /// One of its lines; its offset is its place in `lines`.
    public struct Line: Equatable, Sendable {
        /// Empty where it has none.
        public var name: String
        /// Whoever has it now; empty where nobody has, or where the kernel does not say.
        public var consumer: String

        public init(name: String = "", consumer: String = "") {
            self.name = name
            self.consumer = consumer
        }
    }

    /// The kernel's name, which is also the device's below /dev: gpiochip0. It may be another after the next boot.
    public var name: String
    /// The driver's name for it, which stays: pinctrl-bcm2835.
    public var label: String
    /// All of its lines, in the order of their offsets.
    public var lines: [Line]

    public init(name: String, label: String, lines: [Line]) {
        self.name = name
        self.label = label
        self.lines = lines
    }
}

/// Where a line is: a chip's name, and the line's offset.
struct GPIOPlace: Equatable, Sendable {
    var chip: String
    var offset: Int
}

extension GPIOChip {
    /// Where the line of this name is.
    /// - Throws: `noChips`, `noSuchLine`, `noSuchChip`, `noSuchOffset` or `ambiguous`; the caller says so and tries again later,
    ///   as a chip on a bus may come late.
    static func place(of name: GPIOLineName, in chips: [GPIOChip]) throws(GPIOError) -> GPIOPlace {
        guard !chips.isEmpty else { throw .noChips }
        switch name.form {
        case .name(let wanted):
            let places = chips.flatMap { chip in
                chip.lines.indices.filter { chip.lines[$0].name == wanted }.map {
                    GPIOPlace(chip: chip.name, offset: $0)
                }
            }
            guard let place = places.first else { throw .noSuchLine(wanted, chips) }
            guard places.count == 1 else { throw .ambiguous(wanted, places.map { "\($0.chip):\($0.offset)" }) }
            return place
        case .offset(let offset, let wanted):
            let named = chips.filter { $0.name == wanted }
            let found = named.isEmpty ? chips.filter { $0.label == wanted } : named
            guard let chip = found.first else { throw .noSuchChip(wanted, chips) }
            guard found.count == 1 else { throw .ambiguous(name.description, found.map { "\($0.name):\(offset)" }) }
            guard chip.lines.indices.contains(offset) else { throw .noSuchOffset(offset, chip) }
            return GPIOPlace(chip: chip.name, offset: offset)
        }
    }

    /// What a machine has, for an installer who looks for a line: "gpiochip0 (pinctrl-bcm2835, 54 lines): GPIO2, GPIO3, …".
    static func catalogue(_ chips: [GPIOChip]) -> String {
        // As many as fit a screen; a log line ends at 2000 bytes.
        let nameLimit = 64
        return chips.prefix(12).map { chip in
            let names = chip.lines.map(\.name).filter { !$0.isEmpty }
            let shown = names.prefix(nameLimit).joined(separator: ", ") + (names.count > nameLimit ? ", …" : "")
            let count = "\(chip.lines.count) line\(chip.lines.count == 1 ? "" : "s")"
            return "\(chip.name) (\(chip.label), \(count))" + (names.isEmpty ? " without names" : ": \(shown)")
        }.joined(separator: "; ")
    }
}
