import Glibc

/// Notices that cards were plugged in or pulled out, for whoever uses the card that is best (`card:auto`).
///
/// A stream's owner owns it, on that stream's thread. It looks once a second and neither opens, waits nor allocates.
public struct CardWatch: Sendable {
    private static let lookEvery: Duration = .seconds(1)
    /// So long after a change it is still news: a card that came is not usable before udev has given its rights.
    private static let settlingTime: Duration = .seconds(3)
    /// The kernel's default for how many cards there may be (CONFIG_SND_MAX_CARDS without dynamic minors: 8; 32 with).
    private static let cardLimit = 32

    private let paths: [[CChar]]
    private var present: UInt32
    private var lookAt = Duration.zero
    private var settledAt = Duration.zero

    /// - Parameter directory: where the kernel's sound devices are.
    public init(directory: String = "/dev/snd") {
        paths = (0..<Self.cardLimit).map { Array("\(directory)/controlC\($0)".utf8CString) }
        present = Self.present(paths)
    }

    /// Whether cards came or went lately.
    /// - Parameter now: time since the zero of CLOCK_MONOTONIC.
    public mutating func isUnsettled(at now: Duration) -> Bool {
        if now >= lookAt {
            lookAt = now + Self.lookEvery
            let present = Self.present(paths)
            if present != self.present { settledAt = now + Self.settlingTime }
            self.present = present
        }
        return now < settledAt
    }

    private static func present(_ paths: [[CChar]]) -> UInt32 {
        var present: UInt32 = 0
        for (number, path) in paths.enumerated() where access(path, F_OK) == 0 { present |= 1 << UInt32(number) }
        return present
    }
}
