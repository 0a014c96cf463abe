/// How the config names a sound card: by its id as in /proc/asound/cards, which stays when cards come in another order.
///
/// Pure. `auto`, `ID`, `ID,DEVICE` or `ID,DEVICE,SUBDEVICE`.
public struct CardName: Equatable, Sendable, CustomStringConvertible {
    /// Which card is meant.
    public enum Card: Equatable, Sendable {
        /// The first that has what is wanted; see `SoundCards.place`.
        case auto
        case id(String)
    }

    /// Which card is meant.
    public let card: Card
    /// The device on it; nil: the first that has the wanted direction.
    public let device: Int?
    /// The subdevice; nil: the first that is free.
    public let subdevice: Int?

    /// The first card that has what is wanted.
    public static let auto = CardName(card: .auto, device: nil, subdevice: nil)

    /// Reads a name; nil where it is none. A bare number is none: a card's number changes with the order of plugging in.
    public init?(_ text: String) {
        if text == "auto" {
            self = .auto
            return
        }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard (1...3).contains(parts.count), Self.isID(parts[0]) else { return nil }
        let numbers = parts.dropFirst().map(Self.number)
        guard numbers.allSatisfy({ $0 != nil }) else { return nil }
        card = .id(String(parts[0]))
        device = numbers.first ?? nil
        subdevice = numbers.count > 1 ? numbers[1] : nil
    }

    private init(card: Card, device: Int?, subdevice: Int?) {
        self.card = card
        self.device = device
        self.subdevice = subdevice
    }

    /// As the config writes it, without `card:`.
    public var description: String {
        switch card {
        case .auto: "auto"
        case .id(let id): ([id] + [device, subdevice].compactMap { $0.map(String.init) }).joined(separator: ",")
        }
    }

    /// At most 15 letters, digits, - and _ (the kernel's sound/core/init.c, snd_card_set_id; struct snd_ctl_card_info).
    private static func isID(_ text: Substring) -> Bool {
        let isPlain = text.utf8.allSatisfy {
            (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95
        }
        return isPlain && (1...15).contains(text.utf8.count) && !text.utf8.allSatisfy { (48...57).contains($0) }
    }

    private static func number(_ text: Substring) -> Int? {
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}

/// The two ways sound goes through a card.
public enum SoundDirection: Sendable {
    case capture
    case playback
}
