internal import CGPIO
import Glibc

/// The machine's GPIO chips as libgpiod shows them. Owns nothing: each question opens the devices and closes them again.
///
/// Takes well under a millisecond per chip; asked when a line is wanted, not while it is held.
enum GPIODevices {
    private static let folder = "/dev"

    /// Where the line of this name is.
    /// - Throws: `notPermitted` or `forbidden` where the line may be on a chip that cannot be looked at, else as `GPIOChip.place`.
    static func place(of name: GPIOLineName) throws(GPIOError) -> GPIOPlace {
        var chips: [GPIOChip] = []
        var hindrance: GPIOError?
        for chip in names(in: folder) {
            do throws(GPIOError) {
                chips.append(try describe(chip))
            } catch {
                hindrance = hindrance ?? error
            }
        }
        do throws(GPIOError) {
            return try GPIOChip.place(of: name.following { target(of: $0, in: folder) }, in: chips)
        } catch {
            throw hindrance ?? error
        }
    }

    /// Whoever has the line; empty where nobody can tell.
    static func consumer(of place: GPIOPlace) -> String {
        let lines = (try? describe(place.chip))?.lines ?? []
        return lines.indices.contains(place.offset) ? lines[place.offset].consumer : ""
    }

    /// Opens a chip; whoever asks closes it, or hands it to a request.
    static func chip(_ name: String) throws(GPIOError) -> OpaquePointer {
        let path = "\(folder)/\(name)"
        guard let chip = talkpost_gpio_open_chip(path) else {
            let code = errno
            switch code {
            case EACCES: throw .notPermitted(device: path, group: group(of: path))
            case EPERM: throw .forbidden(device: path)
            default: throw .refused(line: name, what: "opened", code: code)
            }
        }
        return chip
    }

    /// In the order of their numbers: gpiochip2 before gpiochip10. Without the links by which a board keeps an old name in use.
    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var numbers: [Int] = []
        let prefix = "gpiochip"
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)),
                target(of: name, in: folder) == nil
            else { continue }
            numbers.append(number)
        }
        return numbers.sorted().map { "\(prefix)\($0)" }
    }

    /// The name of the chip that a link in the folder leads to; nil where it is no link.
    static func target(of name: String, in folder: String) -> String? {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("\(folder)/\(name)", &path, path.count)
        guard count > 0 else { return nil }
        let bytes = path[..<count].map { UInt8(bitPattern: $0) }
        return bytes.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
    }

    private static func describe(_ name: String) throws(GPIOError) -> GPIOChip {
        let chip = try chip(name)
        defer { talkpost_gpio_close_chip(chip) }
        var description = talkpost_gpio_chip_description()
        guard talkpost_gpio_describe_chip(chip, &description) == 0 else {
            throw .refused(line: name, what: "described", code: errno)
        }
        let lines = (0..<description.line_count).map { offset in
            var line = talkpost_gpio_line_description()
            // One that cannot be described has no name to be found by.
            guard talkpost_gpio_describe_line(chip, offset, &line) == 0 else { return GPIOChip.Line() }
            return GPIOChip.Line(name: text(line.name), consumer: line.is_used ? text(line.consumer) : "")
        }
        return GPIOChip(name: name, label: text(description.label), lines: lines)
    }

    /// A C array of characters up to its zero.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private static func group(of path: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0, let entry = getgrgid(status.st_gid) else { return nil }
        // Root's group is no group to add anyone to.
        return status.st_gid == 0 ? nil : String(cString: entry.pointee.gr_name)
    }
}
