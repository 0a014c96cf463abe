/// A card's controls, as a session sees them: `MixerCard`, or a stand-in in tests.
protocol MixerAccess: AnyObject {
    /// All there are.
    var elements: [MixerElement] { get }
    /// - Throws: the card is gone.
    func values(of element: MixerElement) throws(ALSAError) -> [Int]
    /// - Throws: the card is gone, or another program has locked the control.
    func set(_ values: [Int], of element: MixerElement) throws(ALSAError)
    /// What changed since it was asked last, one at a time; nil: nothing more. Never waits or allocates.
    /// - Throws: the card is gone.
    func nextChange() throws(ALSAError) -> MixerChange?
}

/// What changed in a card's controls.
enum MixerChange {
    case jack
    case other
}

/// What is done to the mixers of one or two cards for a voice, and how it is undone. `SoundMixer` owns it, behind its lock.
///
/// The values to put back are in the file before the first control is changed, and leave it once they are put back. Each
/// function returns sentences for the log.
struct MixerSession<Access: MixerAccess> {
    /// A card that the voice uses.
    struct Use: Equatable, Sendable {
        var cardID: String
        var uses: MixerPlan.Uses
    }

    /// Who uses the cards.
    enum User: Equatable, Sendable {
        case nobody
        /// A tone: nothing of the microphone is touched.
        case tone
        case voice
    }

    private struct Card {
        var use: Use
        var access: Access
        var plan: MixerPlan
    }

    private let settings: MixerSettings
    private let file: SavedMixerFile
    private let mixer: (_ cardID: String) throws(ALSAError) -> Access
    private var cards: [Card] = []
    private var saved = SavedMixer()
    /// What was said last of each card: it is said again only where it changed.
    private var routes: [String: String] = [:]
    /// What could not be set at the last try, for the same reason.
    private var failures: [String] = []
    /// What a crash left in the file, at the time they were taken.
    private var left = SavedMixer()
    /// Who has the mixers now.
    private(set) var user = User.nobody

    init(
        _ settings: MixerSettings, file: SavedMixerFile,
        mixer: @escaping (_ cardID: String) throws(ALSAError) -> Access
    ) {
        self.settings = settings
        self.file = file
        self.mixer = mixer
    }

    // MARK: A voice

    /// Sets the cards up; those that it holds already and that are still there are left alone.
    /// - Parameter user: not `nobody`; a voice may follow upon a tone, and keeps them until `giveBack`.
    mutating func take(_ uses: [Use], for user: User) -> [String] {
        // Lets go of those that went meanwhile.
        var sentences = follow()
        if self.user == .nobody {
            self.user = user
            left = file.read() ?? SavedMixer()
            saved = left
        } else if self.user == .tone, user == .voice {
            self.user = .voice
            var failures: [String] = []
            for index in cards.indices {
                // A card that is gone is let go of at the next look; the streams name its loss.
                do throws(ALSAError) { sentences += try route(index) } catch { failures.append("\(error)") }
            }
            sentences += failures
        }
        let missing = uses.filter { use in !cards.contains { $0.use == use } }
        guard !missing.isEmpty else { return sentences }
        var failures: [String] = []
        for use in missing {
            do throws(ALSAError) {
                sentences += try take(use, &failures)
            } catch {
                failures.append("The mixer is left as it is: \(error)")
            }
        }
        defer { self.failures = failures }
        return failures == self.failures ? sentences : sentences + failures
    }

    private mutating func take(_ use: Use, _ failures: inout [String]) throws(ALSAError) -> [String] {
        let access = try mixer(use.cardID)
        let plan = MixerPlan(settings, uses: use.uses, elements: access.elements)
        for element in plan.touchable {
            saved.add(SavedMixer.Key(cardID: use.cardID, element: element.id), try access.values(of: element))
        }
        if !saved.values.isEmpty, let reason = file.write(saved) {
            failures.append(
                "The mixer of the sound card \(use.cardID) is left as it is, because what it had cannot be kept (\(reason)); "
                    + "name another folder in [state] directory.")
            return []
        }
        cards.removeAll { $0.use.cardID == use.cardID }
        cards.append(Card(use: use, access: access, plan: plan))
        return try route(cards.count - 1)
    }

    /// Looks whether a jack changed, and follows it. Cheap, where nothing changed: it neither waits nor allocates.
    mutating func follow() -> [String] {
        var sentences: [String] = []
        var index = 0
        while index < cards.count {
            do throws(ALSAError) {
                var isPlugged = false
                while let change = try cards[index].access.nextChange() {
                    if case .jack = change { isPlugged = true }
                }
                if isPlugged { sentences += try route(index) }
                index += 1
            } catch {
                // The streams name the loss; once the card is back it is taken anew.
                cards.remove(at: index)
            }
        }
        return sentences
    }

    /// Sets a card's controls to what its jacks ask for now.
    private mutating func route(_ index: Int) throws(ALSAError) -> [String] {
        let card = cards[index]
        var values: [MixerElement.ID: [Int]] = [:]
        for element in card.plan.touchable { values[element.id] = saved.values[key(card, element)] }
        for jack in card.plan.jacks { values[jack.id] = try card.access.values(of: jack) }
        let wanted = card.plan.settings(values)
        var sentences: [String] = []
        for element in changeable(card) {
            // What has no place in the file is not touched; what this route does not name gets back what it had.
            guard let before = saved.values[key(card, element)] else { continue }
            let target = wanted.first { $0.element == element }?.values ?? before
            do throws(ALSAError) {
                if try card.access.values(of: element) != target { try card.access.set(target, of: element) }
            } catch {
                guard error.reason == .notPermitted || error.reason == .busy else { throw error }
                sentences.append("The control \(element.id.name) cannot be set: \(error)")
            }
        }
        let route = card.plan.route(values)
        if card.use.uses.speaker, let route, routes.updateValue(route, forKey: card.use.cardID) != route {
            sentences.append("The speaker of the sound card \(card.use.cardID) is now: \(route).")
        }
        return sentences
    }

    /// Puts every value back as it was, and the file aside.
    mutating func giveBack() -> [String] {
        guard user != .nobody else { return [] }
        var sentences: [String] = []
        for card in cards {
            for element in changeable(card) {
                guard let before = saved.values[key(card, element)] else { continue }
                do throws(ALSAError) {
                    try card.access.set(before, of: element)
                } catch {
                    sentences.append("The control \(element.id.name) could not be put back: \(error)")
                    if error.reason == .lost { break }
                }
            }
        }
        // A card that is gone comes back with values of its own: nothing of it is kept. Only a microphone that a crash left switched off
        // still waits for its voice.
        var rest = SavedMixer()
        if user == .tone { rest.values = left.values.filter { $0.key.element.meaning.isCaptureSwitch } }
        user = .nobody
        cards = []
        saved = SavedMixer()
        left = SavedMixer()
        if rest.values.isEmpty {
            file.retire()
        } else if let reason = file.write(rest) {
            sentences.append("How the microphone's switch was cannot be kept: \(reason).")
        }
        return sentences
    }

    /// What the present user may change.
    private func changeable(_ card: Card) -> [MixerElement] {
        user == .voice ? card.plan.touchable : card.plan.touchable.filter { $0.meaning.direction != .capture }
    }

    private func key(_ card: Card, _ element: MixerElement) -> SavedMixer.Key {
        SavedMixer.Key(cardID: card.use.cardID, element: element.id)
    }

    /// Reads all that a voice would read of a card. A card that cannot be read is the voice's to tell.
    func look(at use: Use) {
        guard user == .nobody, let access = try? mixer(use.cardID) else { return }
        for element in MixerPlan(settings, uses: use.uses, elements: access.elements).touchable {
            _ = try? access.values(of: element)
        }
    }

    // MARK: After a crash

    /// Puts back what a crash left, but for the microphone's switch, which stays off until the next voice ends. What belongs to a
    /// card that is not there now is kept for later.
    mutating func restoreAfterCrash() -> [String] {
        guard user == .nobody, let left = file.read() else { return [] }
        var rest = left
        var sentences: [String] = []
        for cardID in Set(left.values.keys.map(\.cardID)).sorted() {
            do throws(ALSAError) {
                let access = try mixer(cardID)
                for element in access.elements {
                    let key = SavedMixer.Key(cardID: cardID, element: element.id)
                    guard let before = left.values[key] else { continue }
                    if element.meaning.isCaptureSwitch {
                        try access.set([Int](repeating: 0, count: element.valueCount), of: element)
                    } else {
                        try access.set(before, of: element)
                        rest.values[key] = nil
                    }
                }
                sentences.append("The mixer of the sound card \(cardID) is put back as it was before the last voice.")
            } catch {
                sentences.append("The mixer cannot be put back yet: \(error)")
            }
        }
        if rest.values.isEmpty {
            file.retire()
        } else if rest != left, let reason = file.write(rest) {
            sentences.append("What is still to be put back in the mixer cannot be kept: \(reason).")
        }
        return sentences
    }

    /// Switches the microphone off and keeps for the next voice how it was: for the moment after a crash.
    mutating func muteAfterCrash(_ uses: [Use]) -> [String] {
        var left = file.read() ?? SavedMixer()
        var sentences: [String] = []
        for use in uses where use.uses.microphone {
            do throws(ALSAError) {
                let access = try mixer(use.cardID)
                let switches = MixerPlan(settings, uses: use.uses, elements: access.elements).touchable.filter {
                    $0.meaning.isCaptureSwitch
                }
                for element in switches {
                    left.add(SavedMixer.Key(cardID: use.cardID, element: element.id), try access.values(of: element))
                }
                if !left.values.isEmpty, let reason = file.write(left) {
                    sentences.append("How the microphone's switch was cannot be kept: \(reason).")
                    continue
                }
                for element in switches { try access.set([Int](repeating: 0, count: element.valueCount), of: element) }
            } catch {
                sentences.append("The microphone cannot be switched off: \(error)")
            }
        }
        return sentences
    }
}
