import Testing

@testable import Appliance

@Suite struct StateDirectoryTests {
    @Test(
        arguments: [
            ("/a", "/b", "/a"), (nil, "/b", "/b"), (nil, "/b:/c", "/b"), (nil, "", "/var/lib/talkpost"),
            (nil, nil, "/var/lib/talkpost"),
        ] as [(String?, String?, String)])
    func theConfigsFolderComesBeforeSystemds(configured: String?, systemd: String?, path: String) {
        let state = Configuration.State(directory: configured)
        #expect(StateDirectory.path(state, environment: { $0 == "STATE_DIRECTORY" ? systemd : nil }) == path)
    }
}
