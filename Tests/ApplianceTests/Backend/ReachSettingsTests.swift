import Testing
import VoiceCore

@testable import Appliance

@Suite struct ReachSettingsTests {
    private func configuration(_ change: (inout Configuration) -> Void) -> Configuration {
        var configuration = Configuration()
        change(&configuration)
        return configuration
    }

    @Test func nothingIsConfiguredAndNothingIsUsed() {
        let reach = ReachSettings(Configuration())
        #expect(reach.isEmpty)
        #expect(reach.current().servers.isEmpty)
        #expect(reach.current().proxy == nil)
    }

    @Test func theCredentialIsReadAnewForEachVoiceAndGoesToRelaysAlone() throws {
        let file = CredentialFile("user:pass:word\n")
        let reach = ReachSettings(
            configuration {
                $0.network.iceServers = ["turns:relay.example:443", "stun:a.example"]
                $0.network.turnCredential = file.path
            })
        #expect(
            reach.current().servers == [
                ICEServer(urls: ["stun:a.example"]),
                ICEServer(urls: ["turns:relay.example:443"], username: "user", credential: "pass:word"),
            ])
        file.write("other:sesame")
        let servers = reach.current().servers
        #expect(servers.last?.credential == "sesame")
        #expect(!String(describing: servers).contains("sesame"))
    }

    @Test(arguments: ["", "no colon", ":password alone"])
    func aCredentialThatCannotBeUsedLeavesTheRelaysOutAndIsNamedWithoutItsText(text: String) {
        let file = CredentialFile(text)
        let current = ReachSettings(
            configuration {
                $0.network.iceServers = ["turn:relay.example", "stun:a.example"]
                $0.network.turnCredential = file.path
            }
        ).current()
        #expect(current.servers == [ICEServer(urls: ["stun:a.example"])])
        #expect(current.problems.count == 1)
        #expect(current.problems.first?.contains("turn_credential in [network]") == true)
        #expect(text.isEmpty || current.problems.first?.contains(text) == false)
    }

    @Test(
        arguments: [
            (nil, nil, nil), ("http://n.example:3128", nil, VoiceProxy(host: "n.example", port: 3128)),
            (nil, "http://b.example", VoiceProxy(host: "b.example", port: 80)), (nil, "https://b.example", nil),
            ("http://[2001:db8::1]:8080", "http://b.example", VoiceProxy(host: "2001:db8::1", port: 8080)),
        ] as [(String?, String?, VoiceProxy?)])
    func theProxyIsTheNetworksOrElseTheBackends(network: String?, backend: String?, proxy: VoiceProxy?) {
        let reach = ReachSettings(
            configuration {
                $0.network.proxy = network
                $0.backend.proxy = backend
            })
        #expect(reach.current().proxy == proxy)
        #expect(reach.isEmpty == (proxy == nil))
    }

    @Test func theBackendsCredentialGoesToTheBackendsProxyAlone() {
        let backends = CredentialFile("backend:b")
        let own = CredentialFile("own:o")
        func credential(network: Bool, isNamed: Bool) -> String? {
            ReachSettings(
                configuration {
                    $0.backend.proxy = "http://b.example"
                    $0.backend.proxyCredential = backends.path
                    if network { $0.network.proxy = "http://n.example" }
                    if isNamed { $0.network.proxyCredential = own.path }
                }
            ).current().proxy?.credential
        }
        #expect(credential(network: false, isNamed: false) == "backend:b")
        #expect(credential(network: false, isNamed: true) == "own:o")
        #expect(credential(network: true, isNamed: true) == "own:o")
        #expect(credential(network: true, isNamed: false) == nil)
    }
}
