import Testing

@testable import Support
@testable import VoiceCore

struct ReassemblyTests {
    private struct Piece {
        var tsn: UInt32
        var stream: UInt16 = 0
        var sequence: UInt16 = 0
        var isUnordered = false
        var begins = true
        var ends = true
        var payload: [UInt8]
    }

    private final class Held {
        private var reassembly: Reassembly

        init(capacity: Int, largestMessage: Int) {
            reassembly = Reassembly(capacity: capacity, largestMessage: largestMessage)
        }

        var heldByteCount: Int { reassembly.heldByteCount }
        var room: Int { reassembly.room }

        @discardableResult
        func add(_ piece: Piece, isNext: Bool = true) -> Reassembly.Judgement {
            let flags = UInt8((piece.ends ? 1 : 0) + (piece.begins ? 2 : 0) + (piece.isUnordered ? 4 : 0))
            let chunk = HandMade.data(
                piece.tsn, stream: piece.stream, sequence: piece.sequence, flags: flags, piece.payload)
            return chunk.value.withUnsafeBytes { value in
                let raw = SCTPChunk(type: chunk.type, flags: chunk.flags, value: value)
                guard let data = try? SCTPDataChunk(raw) else { return .violation }
                return reassembly.add(data, isNext: isNext)
            }
        }

        func drain() -> [[UInt8]] {
            var messages: [[UInt8]] = []
            while let message = reassembly.nextMessage() { messages.append(message.bytes) }
            return messages
        }

        func forget(upTo tsn: UInt32) { reassembly.forget(upTo: tsn) }
        func skip(stream: UInt16, upTo sequence: UInt16) { reassembly.skip(stream: stream, upTo: sequence) }
        func reset(_ streams: [UInt16]) { reassembly.reset(streams) }
    }

    /// Ten messages of one to five pieces on two streams, in any order of arrival.
    @Test func everyOrderOfArrivalGivesTheSameMessages() {
        for seed in UInt64(1)...50 {
            for isUnordered in [false, true] {
                var entropy = Entropy.seeded(seed)
                var pieces: [Piece] = []
                var expected: [[UInt8]] = []
                var sequences: [UInt16] = [0, 0]
                var tsn = UInt32.max - 10
                for number in 0..<10 {
                    let stream = number % 2
                    let count = Int.random(in: 1...5, using: &entropy)
                    for index in 0..<count {
                        pieces.append(
                            Piece(
                                tsn: tsn, stream: UInt16(stream), sequence: sequences[stream],
                                isUnordered: isUnordered, begins: index == 0, ends: index == count - 1,
                                payload: [UInt8(number), UInt8(index)]))
                        tsn &+= 1
                    }
                    sequences[stream] &+= 1
                    expected.append((0..<count).flatMap { [UInt8(number), UInt8($0)] })
                }
                pieces.shuffle(using: &entropy)
                let reassembly = Held(capacity: 100_000, largestMessage: 1_000)
                for piece in pieces {
                    let judgement = reassembly.add(piece)
                    #expect(judgement == .taken)
                }
                let messages = reassembly.drain()
                #expect(Set(messages) == Set(expected))
                #expect(reassembly.heldByteCount == 0)
                guard !isUnordered else { continue }
                for stream in 0...1 {
                    let numbers = messages.map { Int($0[0]) }.filter { $0 % 2 == stream }
                    #expect(numbers == numbers.sorted())
                }
            }
        }
    }

    @Test func anUnorderedMessageDoesNotWaitForAnother() {
        let reassembly = Held(capacity: 10_000, largestMessage: 1_000)
        let judgement = reassembly.add(Piece(tsn: 5, isUnordered: true, payload: [1]), isNext: false)
        #expect(judgement == .taken)
        #expect(reassembly.drain() == [[1]])
    }

    @Test func onlyOneStreamWaitsForWhatIsMissing() {
        let reassembly = Held(capacity: 10_000, largestMessage: 1_000)
        reassembly.add(Piece(tsn: 2, stream: 1, sequence: 1, payload: [1]), isNext: false)
        reassembly.add(Piece(tsn: 3, stream: 2, sequence: 0, payload: [2]), isNext: false)
        #expect(reassembly.drain() == [[2]])
        reassembly.add(Piece(tsn: 1, stream: 1, sequence: 0, payload: [0]))
        #expect(reassembly.drain() == [[0], [1]])
    }

    @Test func whatIsHeldIsBounded() {
        let reassembly = Held(capacity: 10_000, largestMessage: 2_000)
        var taken = 0
        for number in UInt32(2)..<1_000 {
            if reassembly.add(Piece(tsn: number, sequence: UInt16(number), payload: [0]), isNext: false) == .taken {
                taken += 1
            }
        }
        #expect(taken < 110)
        #expect(reassembly.heldByteCount <= 10_000)
        #expect(reassembly.room < 200)
        // The missing one is taken, and sets them free.
        let judgement = reassembly.add(Piece(tsn: 1, sequence: 0, payload: [0]))
        #expect(judgement == .taken)
    }

    @Test func aMessageWithoutEndEndsTheAssociationInstead() {
        let reassembly = Held(capacity: 100_000, largestMessage: 2_000)
        var judgement = Reassembly.Judgement.taken
        var tsn: UInt32 = 1
        while judgement == .taken, tsn < 100 {
            judgement = reassembly.add(
                Piece(tsn: tsn, begins: tsn == 1, ends: false, payload: [UInt8](repeating: 0, count: 100)))
            tsn += 1
        }
        #expect(judgement == .violation)
        #expect(tsn < 25)
    }

    @Test func messagesThatAreGivenUpHoldNobodyUp() {
        let reassembly = Held(capacity: 10_000, largestMessage: 1_000)
        reassembly.add(Piece(tsn: 1, sequence: 0, ends: false, payload: [0]))
        reassembly.add(Piece(tsn: 4, sequence: 2, payload: [2]), isNext: false)
        reassembly.add(Piece(tsn: 6, sequence: 4, payload: [4]), isNext: false)
        reassembly.forget(upTo: 3)
        reassembly.skip(stream: 0, upTo: 1)
        #expect(reassembly.drain() == [[2]])
        reassembly.skip(stream: 0, upTo: 3)
        #expect(reassembly.drain() == [[4]])
        #expect(reassembly.heldByteCount == 0)
    }

    @Test func aStreamThatIsResetBeginsWithItsFirstNumberAgain() {
        let reassembly = Held(capacity: 10_000, largestMessage: 1_000)
        reassembly.add(Piece(tsn: 1, sequence: 0, payload: [0]))
        reassembly.add(Piece(tsn: 3, sequence: 2, payload: [9]))
        reassembly.reset([0])
        #expect(reassembly.heldByteCount == 0)
        reassembly.add(Piece(tsn: 4, sequence: 0, payload: [1]))
        #expect(reassembly.drain() == [[0], [1]])
    }
}
