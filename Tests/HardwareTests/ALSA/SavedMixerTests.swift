import Glibc
import Testing

@testable import Hardware

@Suite struct SavedMixerTests {
    private static func key(_ card: String, _ name: String, _ index: Int = 0) -> SavedMixer.Key {
        SavedMixer.Key(
            cardID: card,
            element: MixerElement.ID(interface: 2, device: 0, subdevice: 1, name: name, index: index))
    }

    private static var example: SavedMixer {
        var saved = SavedMixer()
        saved.add(key("Board", "Mic Capture Switch"), [1, 0])
        saved.add(key("Board", "PCM Playback Volume", 2), [-1, 255])
        saved.add(key("Phone", "Größe, \"x\" Volume"), [Int.max, Int.min])
        return saved
    }

    @Test func whatIsWrittenIsReadBack() {
        #expect(SavedMixer(Self.example.bytes) == Self.example)
        #expect(SavedMixer(SavedMixer().bytes) == SavedMixer())
    }

    @Test func theOlderValueOfAControlWins() {
        var saved = Self.example
        saved.add(Self.key("Board", "Mic Capture Switch"), [0, 0])
        #expect(saved == Self.example)
    }

    @Test(arguments: ["", "a\tb", "a\nb", "\u{7F}", String(repeating: "x", count: 65)])
    func aNameThatCouldSpoilTheFileIsNotKept(name: String) {
        var saved = SavedMixer()
        saved.add(Self.key("Board", name), [1])
        saved.add(Self.key(name, "Mic"), [1])
        #expect(saved == SavedMixer())
    }

    @Test(arguments: [
        "", "\n", "talkpost mixer 1\n", "talkpost mixer 2\nend\n", "talkpost mixer 1\nend",
        "talkpost mixer 1\nx\nend\n",
        "talkpost mixer 1\nBoard\t2 0 0\t1\tMic\nend\n", "talkpost mixer 1\nBoard\t2 0 0 0\t\tMic\nend\n",
        "talkpost mixer 1\nBoard\t2 0 0 0\t1 x\tMic\nend\n", "talkpost mixer 1\nBoard\t2 0 -1 0\t1\tMic\nend\n",
        "talkpost mixer 1\nBoard\t2 0 0 0\t99999999999999999999\tMic\nend\n",
        "talkpost mixer 1\nBoard\t2 0 0 4294967296\t1\tMic\nend\n", "talkpost mixer 1\n\t2 0 0 0\t1\tMic\nend\n",
        "talkpost mixer 1\nBoard\t2 0 0 0\t1\tMic\textra\nend\n",
    ])
    func aFileThatIsNoneOfOursIsRefusedAsAWhole(text: String) {
        #expect(SavedMixer(Array(text.utf8)) == nil)
    }

    @Test func everyCutOffFileIsRefused() {
        let bytes = Self.example.bytes
        for count in 0..<bytes.count { #expect(SavedMixer(Array(bytes[..<count])) == nil) }
    }

    @Test func aHugeFileIsRefusedUnread() {
        #expect(SavedMixer([UInt8](repeating: 10, count: 70_000)) == nil)
        let values = Array(repeating: "1", count: 129).joined(separator: " ")
        #expect(SavedMixer(Array("talkpost mixer 1\nBoard\t2 0 0 0\t\(values)\tMic\nend\n".utf8)) == nil)
    }

    @Test func theFileIsReplacedWholeAndTakenAway() throws {
        let folder = try TestFolder()
        let file = SavedMixerFile(directory: folder.path)
        #expect(file.read() == nil)
        // What a start that was cut off left behind.
        try folder.write("mixer.new", "half")
        #expect(file.write(Self.example) == nil)
        #expect(file.read() == Self.example)
        #expect(folder.bytes("mixer.new") == nil)
        #expect(file.write(SavedMixer()) == nil)
        #expect(file.read() == SavedMixer())
        file.retire()
        #expect(file.read() == nil)
    }

    @Test func theSameValuesNeedNotBeWrittenAgain() throws {
        let folder = try TestFolder()
        let file = SavedMixerFile(directory: folder.path)
        #expect(file.write(Self.example) == nil)
        file.retire()
        #expect(folder.bytes("mixer") == nil)
        // Whoever writes a file anew needs this name for it.
        try folder.write("mixer.new/blocked", "")
        #expect(file.write(Self.example) == nil)
        #expect(file.read() == Self.example)
        file.retire()
        #expect(file.write(SavedMixer()) != nil)
    }

    @Test func whatCannotBeWrittenIsSaidWithItsPlace() throws {
        let folder = try TestFolder()
        let reason = SavedMixerFile(directory: "\(folder.path)/missing").write(Self.example)
        #expect(reason == "\(folder.path)/missing/mixer.new: No such file or directory")
    }

    @Test func aLinkInTheFilesPlaceIsNotFollowed() throws {
        let folder = try TestFolder()
        try folder.write("other", "keep")
        symlink("\(folder.path)/other", "\(folder.path)/mixer.new")
        #expect(SavedMixerFile(directory: folder.path).write(Self.example) == nil)
        #expect(folder.bytes("other") == Array("keep".utf8))
    }
}
