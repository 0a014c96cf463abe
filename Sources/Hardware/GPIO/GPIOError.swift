import Glibc

/// Why a GPIO line cannot be had, or is no longer there. Its description says what is wrong and what to do about it.
public enum GPIOError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The machine has no GPIO chip, or the program cannot see one.
    case noChips
    /// No line has this name; these are the chips that were looked at.
    case noSuchLine(String, [GPIOChip])
    /// No chip has this name or label.
    case noSuchChip(String, [GPIOChip])
    /// The chip has fewer lines.
    case noSuchOffset(Int, GPIOChip)
    /// The name fits several lines.
    case ambiguous(String, [String])
    /// Somebody else has the line; empty where the kernel does not say who.
    case busy(line: String, consumer: String)
    /// The device file may not be opened.
    case notPermitted(device: String, group: String?)
    /// A policy of the service keeps the device from it, whatever its rights are.
    case forbidden(device: String)
    /// The chip cannot do what was asked for; with the system's reason.
    case refused(line: String, what: String, code: Int32)
    /// The line was there, and its chip is gone.
    case gone(line: String)

    public var description: String {
        switch self {
        case .noChips:
            "There is no GPIO chip (/dev/gpiochip*): load the driver of the board's pins, or let the service see the device."
        case .noSuchLine(let name, let chips):
            "There is no GPIO line \(name)\(Self.hint(name, chips)); there is \(GPIOChip.catalogue(chips))."
        case .noSuchChip(let name, let chips):
            "There is no GPIO chip \(name); name one of these, or a line: \(GPIOChip.catalogue(chips))."
        case .noSuchOffset(let offset, let chip):
            "The GPIO chip \(chip.name) (\(chip.label)) has no line \(offset): name an offset from 0 to \(chip.lines.count - 1)."
        case .ambiguous(let name, let places):
            "Several GPIO lines are called \(name): name one of \(places.joined(separator: ", "))."
        case .busy(let line, let consumer):
            "The GPIO line \(line) is in use\(consumer.isEmpty ? "" : " by \(consumer)"): end that use, or name another line."
        case .notPermitted(let device, let group):
            "\(device) may not be opened: "
                + (group.map { "add the service's user to the group \($0) (SupplementaryGroups=\($0))." }
                    ?? "give the service's user the right to read and write it.")
        case .forbidden(let device):
            "\(device) is kept from the service: allow it in the unit (DeviceAllow=char-gpiochip rw)."
        case .refused(let line, let what, let code):
            "The GPIO line \(line) cannot be \(what) (\(String(cString: strerror(code)))): \(Self.cure(code))"
        case .gone(let line):
            "The GPIO chip of the line \(line) is gone: check its plug and its driver."
        }
    }

    private static func cure(_ code: Int32) -> String {
        switch code {
        // What the kernel answers to a bias, drive or edge that the chip has not (gpio/chardev.rst in the kernel's documentation).
        case EINVAL, ENOTSUP, ENXIO: "choose a bias, drive or line that its chip can do."
        default: "the kernel's log says what its chip's driver misses."
        }
    }

    /// The line that was perhaps meant.
    private static func hint(_ name: String, _ chips: [GPIOChip]) -> String {
        let wanted = name.lowercased()
        let alike = chips.flatMap(\.lines).first { $0.name.lowercased() == wanted }
        return alike.map { " (did you mean \($0.name)?)" } ?? ""
    }
}
