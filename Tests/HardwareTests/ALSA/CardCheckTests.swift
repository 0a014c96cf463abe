import Glibc
import Testing

@testable import Hardware

@Suite struct CardCheckTests {
    @Test func aCardThatComesAndGoesIsNoticed() throws {
        let folder = try TestFolder()
        let check = CardCheck(try #require(CardName("Board")), for: .capture, in: folder.path)
        #expect(check.problem?.reason == .absent)
        // Number 31 and device 99: no real device has this node, so no right to it can be missing.
        try folder.write("card31/id", "Board\n")
        try folder.write("pcmC31D99c", "")
        #expect(check.problem == nil)
        #expect(check.problem == nil)
        // Another card has taken its number.
        try folder.write("card31/id", "Other\n")
        #expect(check.problem?.what == "there is no sound card Board (there are: Other)")
        try folder.write("card31/id", "Board\n")
        #expect(check.problem == nil)
        unlink("\(folder.path)/pcmC31D99c")
        #expect(check.problem?.what == "the sound card Board has no microphone")
    }
}
