import Glibc
import Testing

@testable import Appliance

@Suite struct ConfigFileTests {
    private func file(_ text: String) -> ConfigFile {
        let path = "/tmp/talkpost-config-\(getpid()).conf"
        if let file = fopen(path, "w") {
            fputs(text, file)
            fclose(file)
        }
        defer { unlink(path) }
        return ConfigFile(path: path)
    }

    @Test func whatCanBeReadIsFollowedBesideAMistake() {
        let file = file("[talk]\nmood = hold\nidle_end = 7 s\n[backend]\nchat = hall\n")
        #expect(file.configuration.talk.idleEnd == .seconds(7))
        #expect(file.configuration.backend.chat == "hall")
        #expect(file.problems.count == 1)
        #expect(file.problems.first?.contains(".conf:2: ") == true)
    }

    @Test func aFileWithoutMistakesHasNoProblems() {
        #expect(file("[talk]\nidle_end = 7 s\n").problems == [])
    }

    @Test func anAddressThatCannotBeUsedIsAProblemOfTheFile() {
        #expect(file("[backend]\nurl = http:///voice\n").problems.count == 1)
    }

    @Test func aBackendThatCannotBeReadIsNotReplacedByTheDefault() {
        #expect(file("[backend]\nurl = nonsense\n").backendProblem?.contains(".conf:2: ") == true)
        #expect(ConfigFile(path: "/nonexistent/talkpost.conf").backendProblem != nil)
        #expect(file("[backend]\nurl = http://192.0.2.1/voice\n[talk]\nmood = hold\n").backendProblem == nil)
    }

    @Test func turnsByTheButtonNeedAChannel() {
        #expect(file("[talk]\nturns = button\n").problems == [])
        #expect(file("[talk]\nturns = button\n[voice]\nchannel = none\n").problems.count == 1)
    }

    @Test(arguments: [
        ("ice_servers = turn:relay.example", "turn:relay.example"), ("turn_credential = turn", "turn_credential"),
        ("ice_servers = stun:a.example\nturn_credential = turn", "turn_credential"),
        ("proxy_credential = proxy", "proxy_credential"),
    ])
    func whatDoesNotGoTogetherInTheNetworkIsNamed(lines: String, name: String) {
        let problems = file("[network]\n\(lines)\n").problems
        #expect(problems.count == 1)
        #expect(problems.first?.contains(name) == true)
    }

    @Test(arguments: [
        "[network]\nice_servers = turn:relay.example, stun:a.example\nturn_credential = turn\n",
        "[network]\nproxy = http://proxy.example\nproxy_credential = proxy\n",
        "[backend]\nproxy = http://proxy.example\n[network]\nproxy_credential = proxy\n",
    ])
    func whatGoesTogetherInTheNetworkIsTaken(text: String) {
        #expect(file(text).problems == [])
    }

    @Test func aMissingFileIsNamedAndLeavesTheDefaults() {
        let file = ConfigFile(path: "/nonexistent/talkpost.conf")
        #expect(file.configuration == Configuration())
        #expect(file.problems.first?.hasPrefix("/nonexistent/talkpost.conf: the config cannot be read") == true)
    }
}
