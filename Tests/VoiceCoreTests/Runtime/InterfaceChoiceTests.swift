import Testing

@testable import Support
@testable import VoiceCore

@Suite struct InterfaceChoiceTests {
    private func address(_ name: String, _ ip: String, virtual: Bool = false) -> InterfaceAddress {
        InterfaceAddress(name: name, ip: IPAddress(ip) ?? .v4(0), isVirtual: virtual)
    }

    @Test func devicesComeBeforeSoftwareAndTheFamiliesByTurns() {
        let chosen = InterfaceChoice.choose([
            address("docker0", "172.17.0.1", virtual: true), address("eth0", "192.0.2.1"),
            address("wlan0", "192.0.2.2"),
            address("eth0", "2001:db8::1"), address("wlan0", "fd00::2"),
        ])
        #expect(chosen.map { "\($0.ip)" } == ["2001:db8::1", "192.0.2.1", "fd00::2", "192.0.2.2", "172.17.0.1"])
    }

    @Test func aHundredBridgesAreTwoOrEightWhereThereIsNothingElse() {
        let bridges = (1...100).map { address("br-\($0)", "172.17.\($0).1", virtual: true) }
        #expect(
            InterfaceChoice.choose(bridges + [address("eth0", "192.0.2.1")]).map(\.name) == ["eth0", "br-1", "br-2"])
        #expect(InterfaceChoice.choose(bridges).count == 8)
    }

    @Test func aTemporaryAddressTakesThePlaceOfTheOneThatBetraysTheMachine() {
        var temporary = address("eth0", "2001:db8::1234")
        temporary.isTemporary = true
        let other = address("eth0", "2001:db8:0:1::1")
        #expect(InterfaceChoice.choose([address("eth0", "2001:db8::1"), temporary, other]) == [temporary, other])
    }

    @Test(arguments: ["fe80::1", "fec0::1"])
    func addressesThatLeadNowhereAreLeftOut(ip: String) {
        #expect(InterfaceChoice.choose([address("eth0", ip)]).isEmpty)
    }

    @Test func anAddressThatIsNotFitIsLeftOutAndHidesNone() {
        var deprecated = address("eth0", "2001:db8::9")
        deprecated.isTemporary = true
        deprecated.isUnfit = true
        let stable = address("eth0", "2001:db8::1")
        #expect(InterfaceChoice.choose([deprecated, stable]) == [stable])
    }
}
