/// Whether the other side follows to another path: its media, or its word on a channel, has to come there.
///
/// That it answers our checks does not say so: there are peers that answer on any path and go on sending to the old one. It knows only times.
struct Following {
    /// How long the other side may take. No source: a heartbeat that is lost and repeated is back by then, and a new voice takes a second or two.
    private static let limit: Duration = .seconds(3)
    /// A peer that was last heard longer ago may be one that sends nothing while it is silent.
    private static let memory: Duration = .seconds(15)

    private var heardAt: Instant?
    /// When it has not followed.
    private(set) var deadline: Instant?

    /// Something authentic came on the path in use.
    mutating func heard(at now: Instant) {
        heardAt = now
        deadline = nil
    }

    /// Another path is in use from now on.
    mutating func moved(at now: Instant) {
        if let heardAt, now <= heardAt + Self.memory { deadline = now + Self.limit }
    }
}
