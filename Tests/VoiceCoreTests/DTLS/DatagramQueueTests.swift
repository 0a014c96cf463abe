import Testing

@testable import Support
@testable import VoiceCore

@Suite struct DatagramQueueTests {
    @Test func entriesComeOutInOrderAndWhole() {
        var queue = DatagramQueue(byteCount: 1_000)
        var entropy = Entropy.seeded(5)
        var model: [[UInt8]] = []
        var used = 0
        for _ in 0..<5_000 {
            if Bool.random(using: &entropy) {
                let bytes = entropy.bytes(Int.random(in: 0...200, using: &entropy))
                let before = queue.dropped
                bytes.withUnsafeBytes { queue.append($0) }
                if used + bytes.count + 4 <= 1_000 {
                    #expect(queue.dropped == before)
                    model.append(bytes)
                    used += bytes.count + 4
                } else {
                    #expect(queue.dropped == before + 1)
                }
            } else {
                let expected = model.isEmpty ? nil : model.removeFirst()
                used -= expected.map { $0.count + 4 } ?? 0
                #expect(next(&queue, room: 200) == expected)
            }
            #expect(queue.isEmpty == model.isEmpty)
        }
    }

    @Test func anEntryTooLongForItsReaderIsLeftOut() {
        var queue = DatagramQueue(byteCount: 1_000)
        for bytes in [[UInt8](repeating: 1, count: 11), [2]] { bytes.withUnsafeBytes { queue.append($0) } }
        #expect(next(&queue, room: 10) == [2])
        #expect(queue.dropped == 1)
        #expect(next(&queue, room: 10) == nil)
    }

    private func next(_ queue: inout DatagramQueue, room: Int) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: room)
        let count = buffer.withUnsafeMutableBytes { queue.next(into: $0) }
        return count.map { Array(buffer[..<$0]) }
    }
}
