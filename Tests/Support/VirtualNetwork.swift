@testable import VoiceCore

/// A network in virtual time: seeded loss, delay, jitter (which reorders) and duplication, NATs and firewalls, the same at every run.
///
/// Voices, bare ICE agents, stubs and servers are its hosts. Time moves only in `run`: to the next datagram that arrives, deadline that
/// comes, or step of the test itself.
final class VirtualNetwork {
    /// How datagrams travel between two addresses.
    struct Link {
        var delay: Duration = .milliseconds(10)
        /// Each datagram is late by up to this much more, which reorders them.
        var jitter: Duration = .zero
        /// 0 to 1. A stream is late by a retransmission instead.
        var loss = 0.0
        /// 0 to 1.
        var duplication = 0.0
        /// Nothing passes, no stream either.
        var isBlocked = false
        /// Datagrams do not pass, streams do.
        var blocksUDP = false
        /// What an IP packet may have; a longer one is lost, as where fragments are.
        var mtu = 1_500
    }

    private struct Event {
        var at: Instant
        var order: Int
        var action: () -> Void
    }

    /// What every pair of addresses has that has nothing of its own.
    var link = Link()
    /// By the two addresses, as hosts have them: from, to.
    var linkBetween: ((_ from: IPAddress, _ to: IPAddress) -> Link)?
    /// Sees every datagram before it leaves and may change it; nil loses it.
    var tamper: ((_ bytes: [UInt8], _ from: SocketAddress, _ to: SocketAddress) -> [UInt8]?)?
    /// What hosts stand behind, by their own addresses; a box may itself stand behind another.
    private var boxes: [IPAddress: VirtualNAT] = [:]
    private var outsides: [IPAddress: VirtualNAT] = [:]
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    private(set) var sentCount = 0
    /// The longest datagram that was sent.
    private(set) var largestByteCount = 0
    private var entropy: Entropy
    private var events: [Event] = []
    private var order = 0
    private var hosts: [any VirtualHost] = []

    init(seed: UInt64) {
        entropy = .seeded(seed)
    }

    func add(_ host: some VirtualHost) {
        hosts.append(host)
        host.network = self
    }

    /// A host that answers each datagram with one, or not.
    func addStub(at address: SocketAddress, answer: @escaping ([UInt8], SocketAddress) -> [UInt8]?) {
        add(VirtualStub(address, answer))
    }

    /// All of `inside` is seen as the box's address from without.
    func put(_ inside: IPAddress, behind box: VirtualNAT) {
        boxes[inside] = box
        if box.kind != .firewall { outsides[box.address] = box }
    }

    // MARK: Datagrams

    func send(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress) {
        sentCount += 1
        largestByteCount = max(largestByteCount, bytes.count)
        guard let bytes = tamper.map({ $0(bytes, from, to) }) ?? bytes else { return }
        let link = link(from.ip, to.ip)
        var copies = chance(link.loss) ? 0 : 1
        if chance(link.duplication) { copies += 1 }
        // 8 bytes of UDP, and of IPv4 or IPv6 20 or 40.
        let isTooLong = bytes.count + (to.ip.isIPv6 ? 48 : 28) > link.mtu
        guard !link.isBlocked, !link.blocksUDP, !isTooLong else { return }
        for _ in 0..<copies {
            let late = Duration.nanoseconds(Int64.random(in: 0...max(0, link.jitter.wholeNanoseconds), using: &entropy))
            let source = outside(from, to: to)
            schedule(after: link.delay + late) { [self] in
                guard let target = inside(to, from: source) else { return }
                for host in hosts where host.owns(target) { host.deliver(bytes, from: source, to: target, at: now) }
            }
        }
    }

    /// The address that `from` is seen under by `to`, all boxes on the way passed.
    private func outside(_ from: SocketAddress, to: SocketAddress) -> SocketAddress {
        var source = from
        while let box = boxes[source.ip], !box.isAlsoHome(of: to.ip) {
            let seen = box.outside(source, to: to)
            // A firewall notes who was sent to, and translates nothing.
            guard seen != source else { break }
            source = seen
        }
        return source
    }

    /// The host's own address that `to` leads to; nil where a box on the way lets nothing in.
    private func inside(_ to: SocketAddress, from: SocketAddress) -> SocketAddress? {
        var target = to
        while let box = outsides[target.ip] {
            guard let next = box.inside(target, from: from) else { return nil }
            target = next
        }
        // By its own address a host is reached from its own side of the box, or through a firewall.
        if target == to, let box = boxes[to.ip], !box.admits(to, from: from) { return nil }
        return target
    }

    // MARK: Streams

    /// Opens a stream from a host to whoever listens at `remote`.
    /// - Parameter done: called when it is open, or with nil where nobody is there or answers.
    func connect(
        from local: SocketAddress, to remote: SocketAddress, done: @escaping (VirtualStream?) -> Void
    ) {
        let there = link(local.ip, remote.ip)
        let back = link(remote.ip, local.ip)
        guard !there.isBlocked, !back.isBlocked else {
            return schedule(after: .seconds(60)) { done(nil) }
        }
        schedule(after: there.delay) { [self] in
            let source = outside(local, to: remote)
            let near = VirtualStream(self, local: local, remote: remote)
            let far = VirtualStream(self, local: remote, remote: source)
            near.other = far
            far.other = near
            let isAccepted = hosts.contains { $0.owns(remote) && $0.accept(far, at: now) }
            schedule(after: back.delay) { done(isAccepted ? near : nil) }
        }
    }

    /// When what is sent now on a stream arrives: in order, and late by a retransmission where a datagram would be lost.
    fileprivate func streamDelay(_ from: IPAddress, _ to: IPAddress) -> Duration? {
        let link = link(from, to)
        guard !link.isBlocked else { return nil }
        return chance(link.loss) ? link.delay + link.delay + .milliseconds(200) : link.delay
    }

    // MARK: Time

    /// Lets `duration` pass.
    func run(_ duration: Duration) {
        run(until: { false }, within: duration)
    }

    /// Lets time pass until `condition` holds.
    /// - Returns: whether it did within `limit`.
    @discardableResult
    func run(until condition: () -> Bool, within limit: Duration) -> Bool {
        let end = now + limit
        for host in hosts { host.flush(at: now) }
        while !condition() {
            guard let next = nextTime(), next <= end else {
                now = end
                OpenSSLClock.set(to: now)
                return condition()
            }
            now = max(now, next)
            OpenSSLClock.set(to: now)
            while let event = events.last, event.at <= now {
                events.removeLast()
                event.action()
            }
            for host in hosts where host.deadline.map({ $0 <= now }) ?? false { host.wake(at: now) }
        }
        return true
    }

    func schedule(after delay: Duration, _ action: @escaping () -> Void) {
        schedule(at: now + delay, action)
    }

    func schedule(at: Instant, _ action: @escaping () -> Void) {
        order += 1
        // The next one is the last of the array; most new ones come after all that wait, thus first.
        let event = Event(at: at, order: order, action: action)
        let index = events.firstIndex { ($0.at, $0.order) < (at, order) } ?? events.count
        events.insert(event, at: index)
    }

    private func nextTime() -> Instant? {
        let deadlines = hosts.compactMap(\.deadline).min()
        guard let event = events.last?.at else { return deadlines }
        return min(event, deadlines ?? event)
    }

    private func link(_ from: IPAddress, _ to: IPAddress) -> Link { linkBetween?(from, to) ?? link }

    private func chance(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &entropy) < probability
    }
}

/// A machine on a `VirtualNetwork`.
protocol VirtualHost: AnyObject {
    var network: VirtualNetwork? { get set }
    /// When it wants to be woken.
    var deadline: Instant? { get }
    func owns(_ address: SocketAddress) -> Bool
    func deliver(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, at now: Instant)
    func wake(at now: Instant)
    /// Sends what the test itself made it say.
    func flush(at now: Instant)
    /// Someone opens a stream to an address of its own.
    func accept(_ stream: VirtualStream, at now: Instant) -> Bool
}

extension VirtualHost {
    var deadline: Instant? { nil }
    func wake(at now: Instant) {}
    func flush(at now: Instant) {}
    func accept(_ stream: VirtualStream, at now: Instant) -> Bool { false }
}

/// One end of a stream: bytes go in order and none is lost.
final class VirtualStream {
    let local: SocketAddress
    let remote: SocketAddress
    var receive: (([UInt8]) -> Void)?
    var closed: (() -> Void)?
    fileprivate weak var other: VirtualStream?
    private let network: VirtualNetwork
    private var lastArrival = Instant(nanoseconds: 0)
    private var isOpen = true
    // Keeps the other end while this one lives.
    private var keptOther: VirtualStream?

    fileprivate init(_ network: VirtualNetwork, local: SocketAddress, remote: SocketAddress) {
        self.network = network
        self.local = local
        self.remote = remote
    }

    func send(_ bytes: [UInt8]) {
        pass { $0.receive?(bytes) }
    }

    func close() {
        guard isOpen else { return }
        pass { other in
            other.isOpen = false
            other.closed?()
        }
        isOpen = false
    }

    private func pass(_ action: @escaping (VirtualStream) -> Void) {
        guard isOpen, let other, let delay = network.streamDelay(local.ip, remote.ip) else { return }
        lastArrival = max(lastArrival, network.now + delay)
        network.schedule(at: lastArrival) { action(other) }
    }
}

private final class VirtualStub: VirtualHost {
    weak var network: VirtualNetwork?
    private let address: SocketAddress
    private let answer: ([UInt8], SocketAddress) -> [UInt8]?

    init(_ address: SocketAddress, _ answer: @escaping ([UInt8], SocketAddress) -> [UInt8]?) {
        self.address = address
        self.answer = answer
    }

    func owns(_ address: SocketAddress) -> Bool { address == self.address }

    func deliver(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, at now: Instant) {
        if let bytes = answer(bytes, from) { network?.send(bytes, from: to, to: from) }
    }
}
