/// Makes presses and releases out of a contact's edges. Pure: edges, levels and the time go in, decided changes come out.
///
/// It decides by stable level: a level that has lasted for `stablePeriod` since the last edge, by the kernel's own times, is believed;
/// everything shorter is a bounce or a spike. So it makes no difference how late the edges are read. A contact that is closed from the
/// start gives no press until it was released: nobody's thumb can be told from a stuck one. Owned by `GPIOButton`, on its actor.
struct Debouncer: Equatable, Sendable {
    /// Between the 10 ms for which a switch's contacts may bounce by their data sheets, twice, and the 40 ms of the shortest press that
    /// must count: a press of 40 ms that bounces for 10 ms at either end is just felt.
    static let stablePeriod: Duration = .milliseconds(20)

    /// What is believed of the contact.
    enum Contact: Equatable, Sendable {
        case released
        case pressed(since: Duration)
        /// Closed from the start; it counts as released.
        case stuck(since: Duration)
    }

    private(set) var contact: Contact
    /// After the last edge.
    private var level: Bool
    /// When the last edge was; no edge is taken to be earlier than the one before it.
    private var levelSince: Duration

    /// - Parameters:
    ///   - isActive: the level as it was just read.
    ///   - now: time since the zero of CLOCK_MONOTONIC, like every time here.
    init(isActive: Bool, at now: Duration) {
        contact = isActive ? .stuck(since: now) : .released
        level = isActive
        levelSince = now
    }

    /// Takes an edge; what the level before it has decided comes out.
    ///
    /// Its time counts at most as now: a kernel before Linux 5.7 gives the wall clock's. An edge may leave the level as it was: the
    /// kernel reads the level after the interrupt, when a spike is over.
    mutating func handle(_ edge: GPIOEdge, at now: Duration) -> ButtonEvent? {
        let instant = max(levelSince, min(edge.at, now))
        // What happened before a lost edge is not known.
        let event = edge.followsLoss ? nil : settle(at: instant)
        level = edge.isActive
        levelSince = instant
        return event
    }

    /// Takes the level as it was just read, all edges that waited being handled before.
    /// - Parameter mayHaveLost: edges may have been lost since the last one handled.
    mutating func handle(level isActive: Bool, mayHaveLost: Bool, at now: Duration) -> ButtonEvent? {
        guard isActive != level || mayHaveLost else { return settle(at: now) }
        level = isActive
        levelSince = max(levelSince, now)
        return nil
    }

    /// When `handle(level:)` is wanted next; nil: not before another edge.
    var deadline: Duration? {
        isDecided ? nil : levelSince + Self.stablePeriod
    }

    private var isDecided: Bool {
        switch contact {
        case .released: !level
        case .pressed, .stuck: level
        }
    }

    private mutating func settle(at now: Duration) -> ButtonEvent? {
        guard !isDecided, now - levelSince >= Self.stablePeriod else { return nil }
        switch contact {
        case .released:
            contact = .pressed(since: levelSince)
            return ButtonEvent(.pressed, at: levelSince)
        case .pressed:
            contact = .released
            return ButtonEvent(.released, at: levelSince)
        case .stuck:
            contact = .released
            return nil
        }
    }
}

extension Debouncer.Contact {
    /// How long a press may last before it is named as what it may be: a stuck contact. Longer than anyone talks in one go; nothing
    /// but a sentence follows from it.
    static let longPress: Duration = .seconds(60)
    /// How long a contact may be closed from the start before it is named: a pull takes its time, and so does a thumb.
    static let longStart: Duration = .seconds(1)

    /// What an installer should know of it, as a sentence; nil: nothing.
    func diagnosis(at now: Duration) -> String? {
        switch self {
        case .released: nil
        case .stuck(let since):
            now - since < Self.longStart
                ? nil
                : "It is pressed since before the start, and counts only after a release: "
                    + "if nobody holds it, its contact sticks, or active in [button] names the wrong level."
        case .pressed(let since):
            now - since < Self.longPress
                ? nil
                : "It is pressed for more than \(Self.longPress.components.seconds) s: "
                    + "if nobody holds it, its contact sticks."
        }
    }
}
