import Glibc
import Synchronization

/// Asks whether a named card is there and may be used: opens no card and does not wait, and costs next to nothing while nothing changes.
///
/// From any thread.
public final class CardCheck: Sendable {
    private let name: CardName
    private let direction: SoundDirection
    private let directory: String
    /// Where it was found last.
    private let known = Mutex<SoundPlace?>(nil)

    public init(_ name: CardName, for direction: SoundDirection) {
        self.name = name
        self.direction = direction
        directory = SoundCards.systemDirectory
    }

    init(_ name: CardName, for direction: SoundDirection, in directory: String) {
        self.name = name
        self.direction = direction
        self.directory = directory
    }

    /// What is wrong now: it is absent, or not permitted; nil where nothing is.
    public var problem: ALSAError? {
        known.withLock { known in
            if let place = known, isThere(place) { return nil }
            known = nil
            do throws(ALSAError) {
                let place = try SoundCards.present(in: directory).place(of: name, for: direction)
                if access(place.node, R_OK | W_OK) != 0, errno == EACCES {
                    throw ALSAError("access", code: Int(-EACCES), at: place.sentence)
                }
                known = place
                return nil
            } catch {
                return error
            }
        }
    }

    /// The same card has the same number still, and has the device.
    private func isThere(_ place: SoundPlace) -> Bool {
        access("\(directory)/\(place.systemName)", F_OK) == 0
            && KernelFile.read("\(directory)/card\(place.cardNumber)/id") == "\(place.cardID)\n"
    }
}
