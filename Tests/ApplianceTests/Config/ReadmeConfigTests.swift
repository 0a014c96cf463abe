import Testing

@testable import Appliance

@Suite struct ReadmeConfigTests {
    @Test func theReadmesConfigIsOneThatTheProgramTakes() throws {
        let readme = String(decoding: try #require(repositoryFile("README.md")), as: UTF8.self)
        let lines = readme.split(separator: "\n", omittingEmptySubsequences: false)
        let block = lines.drop { $0 != "```ini" }.dropFirst().prefix { $0 != "```" }
        #expect(block.count >= 5)
        let configuration = try ConfigReader.read(Array(block.joined(separator: "\n").utf8))
        #expect(configuration != Configuration())
    }
}
