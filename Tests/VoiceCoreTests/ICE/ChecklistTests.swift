import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ChecklistTests {
    /// Whether two addresses are tried together.
    @Test(arguments: [
        ("192.0.2.1:1", "198.51.100.1:1", true), ("192.0.2.1:1", "[2001:db8::1]:1", false),
        ("[2001:db8::1]:1", "[2001:db8::2]:1", true), ("[fe80::1]:1", "[fe80::2]:1", true),
        ("[fe80::1]:1", "[2001:db8::2]:1", false), ("[2001:db8::1]:1", "[fe80::2]:1", false),
        ("127.0.0.1:1", "127.0.0.1:2", true), ("127.0.0.1:1", "198.51.100.1:1", false),
        ("192.0.2.1:1", "127.0.0.1:1", false), ("[::1]:1", "[::1]:2", true), ("[::1]:1", "[2001:db8::1]:1", false),
    ])
    func addressesArePairedWithTheirOwnKind(local: String, remote: String, isPair: Bool) {
        var checklist = Checklist()
        _ = checklist.addBase(PathID(rawValue: 1), SocketAddress(local), 1)
        _ = checklist.addDescribed(SocketAddress(remote), priority: 1)
        #expect(checklist.pairs.count == (isPair ? 1 : 0))
    }

    @Test(arguments: [
        ("192.0.2.1:1", true), ("192.0.2.1:0", false), ("0.0.0.0:1", false), ("255.255.255.255:1", false),
        ("239.1.1.1:1", false), ("[::]:1", false), ("[ff02::1]:1", false), ("[::ffff:192.0.2.1]:1", false),
        ("[2001:db8::1]:1", true), ("[::1]:1", true), ("10.0.0.1:65535", true),
    ])
    func onlyAddressesOfOneHostAreUsed(text: String, isUsed: Bool) {
        #expect(SocketAddress(text).isUnicast == isUsed)
    }

    @Test func aLinkLocalRemoteIsReachedThroughTheInterfaceOfTheBase() {
        var checklist = Checklist()
        _ = checklist.addBase(PathID(rawValue: 1), SocketAddress("[fe80::1]:1"), 1)
        var remote = SocketAddress("[fe80::2]:2")
        remote.ip = .v6(high: 0xFE80_0000_0000_0000, low: 2)
        _ = checklist.addDescribed(remote, priority: 1)
        #expect(checklist.pairs.first?.remote == SocketAddress("[fe80::2]:2"))
        #expect(checklist.pairs.first?.remote != remote)
    }

    @Test func aCandidateThatComesTwiceMakesOnePair() {
        var checklist = Checklist()
        _ = checklist.addDescribed(SocketAddress("198.51.100.1:1"), priority: 1)
        _ = checklist.addBase(PathID(rawValue: 1), SocketAddress("192.0.2.1:1"), 1)
        _ = checklist.addDescribed(SocketAddress("198.51.100.1:1"), priority: 7)
        #expect(checklist.pairs.count == 1)
        #expect(checklist.pairs.first?.remotePriority == 7)
    }

    @Test func manyCandidatesOnManyPathsStayBoundedAndLeaveRoomForTheTrueAddress() {
        var checklist = Checklist()
        for path in UInt16(0)..<100 {
            _ = checklist.addBase(PathID(rawValue: path), SocketAddress("192.0.2.1:\(1000 + path)"), path)
        }
        for port in UInt16(1)...5000 {
            _ = checklist.addDescribed(SocketAddress(ip: .v4(0xC633_6401), port: port), priority: 5)
        }
        #expect(checklist.pairs.count == Checklist.describedPairLimit)
        #expect(checklist.bases.count == Checklist.baseLimit)
        let route = Route(path: PathID(rawValue: 3), remote: SocketAddress("203.0.113.5:9"))
        let learnt = checklist.pairForCheck(on: route, priority: 1)
        #expect(learnt != nil)
        for port in UInt16(1)...5000 {
            let route = Route(path: PathID(rawValue: 3), remote: SocketAddress(ip: .v4(0xC633_6402), port: port))
            _ = checklist.pairForCheck(on: route, priority: 1)
        }
        #expect(checklist.pairs.count <= Checklist.pairLimit)
    }

    /// RFC 8445 6.1.2.3: our role, the remote priority as it came, then min, max and the last bit. Ours is 2113929471.
    private static let priorities: [(Bool, UInt32, UInt64, UInt64, UInt64)] = [
        (true, 1, 1, 2_113_929_471, 1), (false, 1, 1, 2_113_929_471, 0), (true, 0, 1, 2_113_929_471, 1),
        (true, .max, 2_113_929_471, 2_147_483_647, 0), (false, .max, 2_113_929_471, 2_147_483_647, 1),
        (true, 2_113_929_471, 2_113_929_471, 2_113_929_471, 0),
    ]

    @Test(arguments: priorities)
    func thePriorityOfAPairIsThatOfTheRFC(
        isControlling: Bool, remotePriority: UInt32, lesser: UInt64, greater: UInt64, bit: UInt64
    ) {
        var checklist = Checklist()
        _ = checklist.addBase(PathID(rawValue: 1), SocketAddress("192.0.2.1:1"), 0)
        _ = checklist.addDescribed(SocketAddress("198.51.100.1:1"), priority: remotePriority)
        let priority = checklist.pairs.first?.priority(isControlling: isControlling)
        #expect(priority == lesser * 4_294_967_296 + 2 * greater + bit)
    }

    @Test func pathsOfOneAddressShareAFoundationAndOthersDoNot() {
        var checklist = Checklist()
        for (path, text) in ["192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:3", "[2001:db8::1]:4"].enumerated() {
            _ = checklist.addBase(PathID(rawValue: UInt16(path)), SocketAddress(text), UInt16(path))
        }
        let foundations = checklist.bases.map(\.foundation)
        #expect(foundations[0] == foundations[1])
        #expect(Set(foundations).count == 3)
    }

    @Test func withAPathItsPairsGo() {
        var checklist = Checklist()
        _ = checklist.addBase(PathID(rawValue: 1), SocketAddress("192.0.2.1:1"), 1)
        _ = checklist.addBase(PathID(rawValue: 2), SocketAddress("192.0.2.2:1"), 2)
        _ = checklist.addDescribed(SocketAddress("198.51.100.1:1"), priority: 1)
        checklist.removeBase(PathID(rawValue: 1))
        #expect(checklist.pairs.map(\.local.path) == [PathID(rawValue: 2)])
        #expect(checklist.base(PathID(rawValue: 1)) == nil)
    }
}
