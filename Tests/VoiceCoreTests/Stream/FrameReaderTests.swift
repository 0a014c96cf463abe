import Testing

@testable import Support
@testable import VoiceCore

@Suite struct FrameReaderTests {
    /// What is read of `bytes` when they come in pieces of `size`.
    private func read(_ kind: FrameReader.Kind, _ bytes: [UInt8], inPiecesOf size: Int) throws -> [[UInt8]] {
        var reader = FrameReader(kind)
        var frames: [[UInt8]] = []
        let scratch = Scratch()
        for start in stride(from: 0, to: bytes.count, by: size) {
            Array(bytes[start..<min(start + size, bytes.count)]).withUnsafeBytes { reader.add($0) }
            while let byteCount = try reader.next(into: scratch.bytes) {
                frames.append(Array(scratch.bytes[..<byteCount]))
            }
        }
        return frames
    }

    @Test(arguments: [1, 2, 3, 7, 1_000, 4_096])
    func datagramsComeOutWholeHoweverTheStreamIsCut(size: Int) throws {
        let frames: [[UInt8]] = [[1], [], [2, 3, 4], [UInt8](repeating: 9, count: 1_500), [5]]
        var bytes: [UInt8] = []
        for frame in frames { bytes += [UInt8(frame.count >> 8), UInt8(frame.count & 255)] + frame }
        #expect(try read(.lengthBefore, bytes, inPiecesOf: size) == frames)
    }

    @Test(arguments: [1, 5, 4_000])
    func aDatagramThatIsTooLongIsPassedOverAndTheNextIsRead(size: Int) throws {
        let long = [UInt8](repeating: 7, count: 60_000)
        let bytes = [60_000 >> 8, 60_000 & 255].map { UInt8($0) } + long + [0, 2, 8, 9]
        #expect(try read(.lengthBefore, bytes, inPiecesOf: size) == [[8, 9]])
    }

    @Test(arguments: [1, 3, 64, 4_096])
    func aRelaysStreamHasMessagesAndPaddedChannelData(size: Int) throws {
        let message: [UInt8] = [0, 1, 0, 4] + [UInt8](repeating: 1, count: 20)
        let data: [UInt8] = [0x40, 0, 0, 3, 1, 2, 3]
        #expect(try read(.turn, message + data + [0] + message, inPiecesOf: size) == [message, data, message])
    }

    @Test func anotherProtocolIsUnreadable() {
        #expect(throws: FrameReader.Unreadable.self) {
            try read(.turn, Array("HTTP/1.1".utf8).map { $0 | 0x80 }, inPiecesOf: 8)
        }
    }

    @Test(arguments: 1...50)
    func anyBytesAreReadWithoutATrap(seed: UInt64) {
        var entropy = Entropy.seeded(seed)
        for kind in [FrameReader.Kind.lengthBefore, .turn] {
            let bytes = entropy.bytes(20_000)
            _ = try? read(kind, bytes, inPiecesOf: Int.random(in: 1...4_096, using: &entropy))
        }
    }
}
