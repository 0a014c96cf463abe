/// What a DTLS server says last in the handshake. Pure; its transport owns it until the client has said something.
///
/// Nobody acknowledges it, and a client that has lost it asks again at its own pace, which with OpenSSL is after 1 s, 2 s, 4 s. So it is
/// repeated, byte for byte: a client that had it drops the repetition unread, as a record that it has seen (RFC 6347 4.1.2.6).
struct LastFlight {
    let datagrams: [[UInt8]]
    /// When it is to be repeated.
    let next: Instant
    private let wait: Duration

    /// Each wait is twice the one before, as between other flights. A client that is silent for longer is not asked any more: it
    /// may have nothing to say on the association, only sound.
    private static let longestWait = Duration.milliseconds(1_600)

    init(_ datagrams: [[UInt8]], wait: Duration, at now: Instant) {
        self.datagrams = datagrams
        self.wait = wait
        next = now + wait
    }

    /// After a repetition; nil where it was the last.
    func following(at now: Instant) -> LastFlight? {
        let wait = wait * 2
        return wait > Self.longestWait ? nil : LastFlight(datagrams, wait: wait, at: now)
    }
}
