import Testing

@testable import Support
@testable import VoiceCore

struct ReceivedTSNsTests {
    private func sack(_ received: inout ReceivedTSNs, room: Int = 1_000) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1_200)
        let count = bytes.withUnsafeMutableBytes { buffer -> Int in
            var writer = ByteWriter(buffer)
            received.writeSack(to: &writer, window: 9, room: room)
            return writer.count
        }
        return Array(bytes[..<count])
    }

    private func take(_ tsns: [UInt32], into received: inout ReceivedTSNs) {
        for tsn in tsns {
            switch received.judge(tsn) {
            case .new: received.add(tsn)
            case .duplicate: received.addDuplicate(tsn)
            case .tooFar: break
            }
        }
    }

    @Test func gapsAndDuplicatesAreReported() {
        var received = ReceivedTSNs(before: 1)
        take([1, 2, 4, 5, 8, 2, 5], into: &received)
        let expected: [UInt8] = [0, 0, 0, 2, 0, 0, 0, 9, 0, 2, 0, 2, 0, 2, 0, 3, 0, 6, 0, 6, 0, 0, 0, 2, 0, 0, 0, 5]
        let told = sack(&received)
        #expect(told == expected)
        let toldAgain = sack(&received)
        #expect(toldAgain.count == 20)  // duplicates are told once
        take([3], into: &received)
        #expect(received.cumulative == 5)
        take([7, 6], into: &received)
        #expect(received.cumulative == 8)
        #expect(!received.hasGaps)
    }

    /// Against the plainest model that there is, around the place where numbers wrap.
    @Test func anyOrderLeadsToTheSameAsASet() {
        for seed in UInt64(1)...30 {
            var entropy = Entropy.seeded(seed)
            let first = UInt32.max - 40
            var received = ReceivedTSNs(before: first)
            var model: Set<UInt32> = []
            for _ in 0..<200 {
                let offset = UInt32.random(in: 0..<100, using: &entropy)
                let tsn = first &+ offset
                let isNew: Bool = { if case .new = received.judge(tsn) { true } else { false } }()
                #expect(isNew == !model.contains(offset))
                if isNew { received.add(tsn) }
                model.insert(offset)
                let cumulative = (0...100).first { !model.contains($0) } ?? 100
                #expect(received.cumulative == first &+ cumulative &- 1)
                #expect(received.hasGaps == (model.count > Int(cumulative)))
            }
        }
    }

    @Test func blocksAndReachAreBounded() {
        var received = ReceivedTSNs(before: 1)
        take((1...5_000).map { UInt32($0 * 2) }, into: &received)
        let told = sack(&received, room: 1_100)
        #expect(told.count <= 1_100)
        let isTaken: Bool = { if case .tooFar = received.judge(20_000) { false } else { true } }()
        #expect(!isTaken)
        take([1], into: &received)  // the first that is missing is always taken
        #expect(received.cumulative == 2)
        let isFarTaken: Bool = { if case .tooFar = received.judge(70_000) { false } else { true } }()
        #expect(!isFarTaken)
    }

    @Test func whatThePeerGivesUpIsNotWaitedFor() {
        var received = ReceivedTSNs(before: 10)
        take([10, 13, 14, 17], into: &received)
        let isOldTaken = received.forward(to: 9)
        #expect(!isOldTaken)
        let isTaken = received.forward(to: 12)
        #expect(isTaken)
        #expect(received.cumulative == 14)
        let isTakenToo = received.forward(to: 20)
        #expect(isTakenToo)
        #expect(received.cumulative == 20)
        #expect(!received.hasGaps)
        let isFarTaken = received.forward(to: 20 &+ 100_000)
        #expect(!isFarTaken)
    }
}
