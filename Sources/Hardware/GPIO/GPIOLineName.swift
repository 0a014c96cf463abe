/// Which GPIO line an installer means: one by its name (GPIO17), or a chip's by its offset (gpiochip0:17, pinctrl-bcm2835:17).
///
/// Pure: whether there is such a line, `GPIOChip` knows.
public struct GPIOLineName: Equatable, Sendable, CustomStringConvertible {
    /// The two ways to say it.
    public enum Form: Equatable, Sendable {
        case name(String)
        /// - Parameter chip: its name or its label.
        case offset(Int, chip: String)
    }

    /// Which way it was said.
    public let form: Form

    /// - Returns: nil where the text is neither of the two.
    public init?(_ text: String) {
        // The kernel keeps 31 bytes of names and labels (GPIO_MAX_NAME_SIZE, linux/gpio.h).
        let nameLimit = 31
        func isName(_ text: Substring) -> Bool {
            (1...nameLimit).contains(text.utf8.count) && text.first != " " && text.last != " "
                && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        }
        let device = "/dev/"
        let place = text.hasPrefix(device) ? text.dropFirst(device.count) : text[...]
        // A label may have colons of its own: what counts is the last.
        guard let colon = place.lastIndex(of: ":") else {
            guard text.startIndex == place.startIndex, isName(place) else { return nil }
            form = .name(text)
            return
        }
        let chip = place[..<colon]
        let digits = place[place.index(after: colon)...]
        // Nine digits are more lines than any chip has, and fit an Int.
        guard isName(chip), (1...9).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let offset = Int(digits)
        else { return nil }
        form = .offset(offset, chip: String(chip))
    }

    private init(_ form: Form) {
        self.form = form
    }

    /// The same line, with its chip by the name that `target` knows for it, if it knows one.
    func following(_ target: (_ chip: String) -> String?) -> GPIOLineName {
        switch form {
        case .name: self
        case .offset(let offset, let chip): GPIOLineName(.offset(offset, chip: target(chip) ?? chip))
        }
    }

    /// As an installer writes it.
    public var description: String {
        switch form {
        case .name(let name): name
        case .offset(let offset, let chip): "\(chip):\(offset)"
        }
    }
}
