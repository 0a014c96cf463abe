@testable import VoiceCore

/// A network of voices in virtual time: seeded loss, delay, jitter (which reorders) and duplication, the same at every run.
///
/// Time moves only in `run`: to the next datagram that arrives, deadline that comes, or step of the test itself.
final class VirtualNetwork {
    /// How datagrams travel between two addresses.
    struct Link {
        var delay: Duration = .milliseconds(10)
        /// Each datagram is late by up to this much more, which reorders them.
        var jitter: Duration = .zero
        /// 0 to 1.
        var loss = 0.0
        /// 0 to 1.
        var duplication = 0.0
    }

    private struct Flight {
        var at: Instant
        var order: Int
        var bytes: [UInt8]
        var from: SocketAddress
        var to: SocketAddress
    }

    /// What every pair of addresses has that has nothing of its own.
    var link = Link()
    /// By the far address, for example a slow provider.
    var links: [SocketAddress: Link] = [:]
    /// Sees every datagram before it leaves and may change it; nil loses it.
    var tamper: ((_ bytes: [UInt8], _ from: SocketAddress, _ to: SocketAddress) -> [UInt8]?)?
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var sentCount = 0
    private var entropy: Entropy
    private var flights: [Flight] = []
    private var order = 0
    private var voices: [VirtualVoice] = []

    init(seed: UInt64) {
        entropy = .seeded(seed)
    }

    func add(_ voice: VirtualVoice) {
        voices.append(voice)
        voice.network = self
    }

    func send(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress) {
        sentCount += 1
        guard let bytes = tamper.map({ $0(bytes, from, to) }) ?? bytes else { return }
        let link = links[to] ?? links[from] ?? link
        var copies = 1
        if Double.random(in: 0..<1, using: &entropy) < link.loss { copies = 0 }
        if Double.random(in: 0..<1, using: &entropy) < link.duplication { copies += 1 }
        for _ in 0..<copies {
            let late = Duration.nanoseconds(
                Int64.random(in: 0...max(0, link.jitter.wholeNanoseconds), using: &entropy))
            flights.append(Flight(at: now + link.delay + late, order: order, bytes: bytes, from: from, to: to))
            order += 1
        }
    }

    /// Lets `duration` pass.
    func run(_ duration: Duration) {
        run(until: { false }, within: duration)
    }

    /// Lets time pass until `condition` holds.
    /// - Returns: whether it did within `limit`.
    @discardableResult
    func run(until condition: () -> Bool, within limit: Duration) -> Bool {
        let end = now + limit
        while !condition() {
            guard let next = nextTime(), next <= end else {
                now = end
                OpenSSLClock.set(to: now)
                return condition()
            }
            now = max(now, next)
            OpenSSLClock.set(to: now)
            step()
        }
        return true
    }

    private func nextTime() -> Instant? {
        let arrivals = flights.map(\.at).min()
        let deadlines = voices.compactMap(\.deadline).min()
        guard let arrivals else { return deadlines }
        return min(arrivals, deadlines ?? arrivals)
    }

    private func step() {
        let due = flights.filter { $0.at <= now }.sorted { ($0.at, $0.order) < ($1.at, $1.order) }
        flights.removeAll { $0.at <= now }
        for flight in due {
            for voice in voices { voice.deliver(flight.bytes, from: flight.from, to: flight.to, at: now) }
        }
        for voice in voices where voice.deadline.map({ $0 <= now }) ?? false { voice.wake(at: now) }
    }
}
