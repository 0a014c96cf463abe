import Testing

@testable import Appliance

/// The keys by which an installer names servers and a proxy for the voice itself.
@Suite struct ConfigNetworkTests {
    private func problems(_ text: String) -> [ConfigProblem] {
        do {
            _ = try ConfigReader.read(Array(text.utf8))
            return []
        } catch {
            return error.problems
        }
    }

    @Test(arguments: [
        (
            "[network]\nice_servers = stun:a.example, https://b.example", 2,
            "the server \"https://b.example\" in ice_servers cannot be used: it is no URL of a STUN or TURN server",
            "write stun:HOST, turn:HOST or turns:HOST"
        ),
        (
            "[network]\nice_servers = stun:a.example?transport=tcp", 2,
            "the server \"stun:a.example?transport=tcp\" in ice_servers cannot be used: STUN is asked over UDP alone",
            "write stun:HOST or stun:HOST:PORT, with nothing behind it"
        ),
        (
            "[network]\nice_servers = turns:a.example?transport=udp", 2,
            "the server \"turns:a.example?transport=udp\" in ice_servers cannot be used: its transport is neither udp nor tcp, or one "
                + "that its scheme does not have",
            "write turn:HOST, turn:HOST?transport=tcp or turns:HOST"
        ),
        (
            "[network]\nice_servers = turn:a.example:99999", 2,
            "the server \"turn:a.example:99999\" in ice_servers cannot be used: what follows the scheme is no host with a port",
            "write a name or an address, an IPv6 address in brackets, and perhaps a port: turn:HOST:PORT"
        ),
        (
            "[network]\nproxy = https://proxy.example", 2, "the value of proxy cannot be used",
            "it must be an http:// address with a host, perhaps a port, and nothing else"
        ),
    ])
    func aMistakeIsNamedWithTheAddressAndItsCure(text: String, line: Int, what: String, cure: String) throws {
        let problem = try #require(problems(text).first)
        #expect(problem.line == line)
        #expect(problem.what == what)
        #expect(problem.cure == cure)
    }

    @Test func aPasswordWithinAServersAddressIsRefusedAndNotRepeated() throws {
        let problem = try #require(problems("[network]\nice_servers = stun:a, turn:me:s3cr3t@h").first)
        #expect(problem.what == "a server in ice_servers cannot be used: it has a user name or a password in it")
        #expect(problem.cure.contains("turn_credential"))
        #expect(!problem.described(inFile: "f").contains("s3cr3t"))
    }

    @Test func noMoreServersThanAVoiceUsesAreTaken() {
        let servers = { (count: Int) in (0..<count).map { "stun:s\($0).example" }.joined(separator: ", ") }
        #expect(problems("[network]\nice_servers = \(servers(16))") == [])
        #expect(problems("[network]\nice_servers = \(servers(17))").first?.cure.contains("at most 16") == true)
    }
}
