/// What keeps the talk post from serving well, as sentences for `systemctl status` and the journal. Pure.
///
/// A fault of the site (no card, no backend, no network, a wrong config) is named here and nowhere ends the process; it heals when the
/// site does.
struct Health: Equatable, Sendable {
    /// What can be wrong, in the order in which it is told: what the visitor touches first.
    enum Part: Int, CaseIterable, Sendable, Comparable {
        case config
        case button
        case led
        case sound
        case network
        case backend

        static func < (a: Part, b: Part) -> Bool { a.rawValue < b.rawValue }
    }

    /// What changed, for the journal.
    enum Change: Equatable, Sendable {
        /// A sentence: what is wrong, where, and the cure.
        case fault(String)
        case healed(Part)
    }

    private var faults: [Part: String] = [:]

    /// Whether a press can be served, as far as is known.
    var isAble: Bool { faults.isEmpty }

    /// Takes how a part is now.
    /// - Parameter fault: a sentence; nil: all is well.
    /// - Returns: what changed; nil: nothing.
    mutating func see(_ part: Part, _ fault: String?) -> Change? {
        guard faults[part] != fault else { return nil }
        faults[part] = fault
        return fault.map(Change.fault) ?? .healed(part)
    }

    /// The line for `systemctl status`: what the kiosk does, then what is wrong.
    func status(_ activity: String) -> String {
        guard !isAble else { return activity }
        let sentences = faults.sorted { $0.key < $1.key }.map(\.value)
        return "\(activity) Not able to serve: \(sentences.joined(separator: " "))"
    }
}

extension Health.Part {
    /// For the journal, when it works again.
    var healedSentence: String {
        switch self {
        case .config: "The config can be used."
        case .button: "The talk button works again."
        case .led: "The mute LED works again."
        case .sound: "The sound card is there again."
        case .network: "The network is there again."
        case .backend: "The backend can be reached again."
        }
    }
}
