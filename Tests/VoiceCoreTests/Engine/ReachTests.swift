import Testing

@testable import Support
@testable import VoiceCore

/// Connections where a proxy stands between, and its address is not known from the start.
@Suite struct ReachTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)
    private static let later = start + .seconds(1)
    private static let proxy = ReachProxy(address: SocketAddress("192.0.2.80:3128"), credential: nil)

    /// A voice that knows where the provider listens for connections.
    private func reach() -> Reach {
        var reach = Reach(entropy: .seeded(1))
        reach.opened(PathID(rawValue: 1), SocketAddress("192.0.2.1:4000"), 10, at: Self.start)
        return reach
    }

    private func connects(_ reach: inout Reach) -> [SocketAddress] {
        var targets: [SocketAddress] = []
        while let event = reach.nextEvent() {
            if case .connect(_, _, let target) = event { targets.append(target) }
        }
        return targets
    }

    @Test func connectionsWaitUntilItIsKnownWhereTheProxyIs() {
        var reach = reach()
        reach.awaitProxy()
        reach.begin(passive: [SocketAddress("198.51.100.1:443")], at: Self.start)
        #expect(reach.deadline == nil)
        reach.handleTimeout(at: Self.later)
        #expect(connects(&reach) == [])
        #expect(reach.expectsPaths)
        reach.take(Self.proxy)
        #expect(reach.deadline.map { $0 <= Self.later } == true)
        reach.handleTimeout(at: Self.later)
        #expect(connects(&reach) == [Self.proxy.address])
    }

    @Test func nothingGoesPastAProxyThatIsNotFound() {
        var reach = reach()
        reach.awaitProxy()
        reach.begin(passive: [SocketAddress("198.51.100.1:443")], at: Self.start)
        reach.take(nil)
        reach.handleTimeout(at: Self.later)
        #expect(connects(&reach) == [])
        #expect(!reach.expectsPaths)
        #expect(reach.deadline == nil)
    }

    @Test func withoutAProxyConnectionsGoStraight() {
        var reach = reach()
        reach.begin(passive: [SocketAddress("198.51.100.1:443")], at: Self.start)
        reach.handleTimeout(at: Self.later)
        #expect(connects(&reach) == [SocketAddress("198.51.100.1:443")])
    }
}
