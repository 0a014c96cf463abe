/// The mixer values to put back, as they stand in a file. Pure: text in, values out, and the other way.
///
/// The file may be anything: it is read with limits and refused as a whole where a line is none of ours.
struct SavedMixer: Equatable, Sendable {
    struct Key: Hashable, Sendable {
        var cardID: String
        var element: MixerElement.ID
    }

    /// What each control had before the voice.
    var values: [Key: [Int]] = [:]

    static let byteLimit = 65_536
    /// As many values as a control may have (the kernel's struct snd_ctl_elem_value).
    private static let valueLimit = 128
    private static let firstLine = "talkpost mixer 1"
    /// A file without it was cut off.
    private static let lastLine = "end"

    init() {}

    /// What is already known wins: it is older, from before a voice that did not come to put it back.
    mutating func add(_ key: Key, _ values: [Int]) {
        guard self.values[key] == nil, Self.canStand(key.cardID), Self.canStand(key.element.name) else { return }
        self.values[key] = values
    }

    /// Whether a name can stand in the file; where not, its control is not touched.
    static func canStand(_ name: String) -> Bool {
        // 44 bytes is the kernel's limit for a control's name (SNDRV_CTL_ELEM_ID_NAME_MAXLEN).
        (1...64).contains(name.utf8.count) && name.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }
    }

    /// The file's bytes: one control a line, in a fixed order.
    var bytes: [UInt8] {
        let lines = values.map { key, values in
            let id = key.element
            let numbers = [id.interface, id.device, id.subdevice, id.index].map(String.init).joined(separator: " ")
            return "\(key.cardID)\t\(numbers)\t\(values.map(String.init).joined(separator: " "))\t\(id.name)"
        }
        let text = ([Self.firstLine] + lines.sorted() + [Self.lastLine]).joined(separator: "\n") + "\n"
        return Array(text.utf8)
    }

    /// - Returns: nil where the bytes are no such file.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.byteLimit else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines[0] == Self.firstLine, lines[lines.count - 2] == Self.lastLine,
            lines[lines.count - 1].isEmpty
        else { return nil }
        for line in lines[1..<lines.count - 2] {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard fields.count == 4, let numbers = Self.numbers(fields[1]), numbers.count == 4,
                numbers.allSatisfy({ (0...Int(UInt32.max)).contains($0) }), let values = Self.numbers(fields[2]),
                Self.canStand(String(fields[0])), Self.canStand(String(fields[3]))
            else { return nil }
            let id = MixerElement.ID(
                interface: numbers[0], device: numbers[1], subdevice: numbers[2], name: String(fields[3]),
                index: numbers[3])
            add(Key(cardID: String(fields[0]), element: id), values)
        }
    }

    private static func numbers(_ text: Substring) -> [Int]? {
        let parts = text.split(separator: " ")
        guard (1...valueLimit).contains(parts.count) else { return nil }
        let numbers = parts.compactMap { Int($0) }
        return numbers.count == parts.count ? numbers : nil
    }
}
