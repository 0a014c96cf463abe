import Glibc

/// The sound cards that the kernel has now, read from /sys/class/sound: nothing is opened and nothing waits.
///
/// A value; from any thread.
struct SoundCards: Equatable, Sendable {
    /// What a card hangs on, as far as the choice by itself goes.
    enum Kind: Int, Sendable {
        /// Plugged in by somebody who wants it used.
        case usb
        case builtIn
        /// A screen's loudspeakers: often there, seldom heard.
        case screen
    }

    /// One direction of one device of a card.
    struct Device: Equatable, Sendable {
        var number: Int
        var direction: SoundDirection
    }

    struct Card: Equatable, Sendable {
        var number: Int
        var id: String
        var kind: Kind
        var devices: [Device]
    }

    /// In the order of their numbers.
    let cards: [Card]

    init(_ cards: [Card]) {
        self.cards = cards
    }

    /// Where the kernel lists them.
    static let systemDirectory = "/sys/class/sound"

    /// The cards there are now.
    static func present(in directory: String = systemDirectory) -> SoundCards {
        let names = entries(of: directory).sorted()
        let cards = names.compactMap { name -> Card? in
            guard let number = number(in: name, after: "card"), let id = line(of: "\(directory)/\(name)/id") else {
                return nil
            }
            let devices = names.compactMap { device($0, ofCard: number) }
            let isUSB = link("\(directory)/\(name)/device/subsystem")?.hasSuffix("/usb") ?? false
            let kind: Kind = isUSB ? .usb : id.uppercased().contains("HDMI") ? .screen : .builtIn
            return Card(
                number: number, id: id, kind: kind,
                devices: devices.sorted { $0.number < $1.number })
        }
        return SoundCards(cards.sorted { $0.number < $1.number })
    }

    /// Their ids, for a sentence.
    var ids: [String] { cards.map(\.id) }

    /// Where `name` is. `auto` is the first card that has the direction: USB cards before built-in ones, those before screens,
    /// and the lower number first.
    /// - Throws: `absent`, naming which cards there are.
    func place(of name: CardName, for direction: SoundDirection) throws(ALSAError) -> SoundPlace {
        let card: Card
        switch name.card {
        case .auto:
            let able = cards.filter { $0.devices.contains { $0.direction == direction } }
            let first = able.min { ($0.kind.rawValue, $0.number) < ($1.kind.rawValue, $1.number) }
            guard let first else {
                throw ALSAError(
                    .absent, "there is no sound card with a \(direction.noun) (\(listed))", cure: "plug one in")
            }
            card = first
        case .id(let id):
            guard let named = cards.first(where: { $0.id == id }) else {
                throw ALSAError(
                    .absent, "there is no sound card \(id) (\(listed))", cure: "plug it in, or name one that is there")
            }
            card = named
        }
        let devices = card.devices.filter { $0.direction == direction }
        let device = devices.first { name.device == nil || $0.number == name.device }
        guard let device else {
            let numbers = devices.map { "\($0.number)" }.joined(separator: ", ")
            throw ALSAError(
                .absent,
                devices.isEmpty
                    ? "the sound card \(card.id) has no \(direction.noun)"
                    : "the sound card \(card.id) has a \(direction.noun) only as device \(numbers)",
                cure: "name another card or device")
        }
        return SoundPlace(
            cardNumber: card.number, cardID: card.id, device: device.number, subdevice: name.subdevice,
            direction: direction)
    }

    private var listed: String {
        cards.isEmpty ? "there is none at all" : "there are: \(ids.joined(separator: ", "))"
    }

    // MARK: The kernel's files

    /// "pcmC0D1p" is device 1 of card 0, for playback (Documentation/sound/designs/procfile.rst names them so in /proc too).
    private static func device(_ name: String, ofCard card: Int) -> Device? {
        let prefix = "pcmC\(card)D"
        guard name.hasPrefix(prefix), let letter = name.last, letter == "p" || letter == "c",
            let number = number(in: String(name.dropLast()), after: prefix)
        else { return nil }
        return Device(number: number, direction: letter == "p" ? .playback : .capture)
    }

    private static func number(in name: String, after prefix: String) -> Int? {
        guard name.hasPrefix(prefix) else { return nil }
        let digits = name.dropFirst(prefix.count)
        guard (1...3).contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }

    private static func entries(of directory: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            // The kernel ends d_name with a zero within its array (readdir(3)).
            withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { names.append(String(cString: $0)) }
            }
        }
        return names
    }

    private static func line(of path: String) -> String? {
        KernelFile.read(path).map { String($0.prefix { $0 != "\n" }) }
    }

    private static func link(_ path: String) -> String? {
        guard let target = realpath(path, nil) else { return nil }
        defer { free(target) }
        return String(cString: target)
    }
}

/// One direction of one device of a card that is there.
struct SoundPlace: Equatable, Sendable {
    var cardNumber: Int
    var cardID: String
    var device: Int
    /// nil: the first that is free.
    var subdevice: Int?
    var direction: SoundDirection

    /// The name that alsa-lib opens: the card itself, by its id, with nothing in between.
    var pcmName: String {
        "hw:CARD=\(cardID),DEV=\(device)" + (subdevice.map { ",SUBDEV=\($0)" } ?? "")
    }

    /// The kernel's device.
    var node: String { "/dev/snd/\(systemName)" }

    /// Its name among the kernel's devices.
    var systemName: String { "pcmC\(cardNumber)D\(device)\(direction == .capture ? "c" : "p")" }

    /// For a sentence.
    var sentence: String { "the sound card \(cardID)" + (device == 0 ? "" : ", device \(device)") }
}

extension SoundDirection {
    /// What a card has that serves it.
    var noun: String {
        switch self {
        case .capture: "microphone"
        case .playback: "speaker"
        }
    }
}
