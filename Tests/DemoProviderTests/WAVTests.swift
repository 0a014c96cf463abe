import Glibc
import Testing

@testable import DemoProvider

@Suite struct WAVTests {
    private static func wav(rate: UInt32 = 48_000, channels: UInt16 = 1, kind: UInt16 = 1, _ samples: [Int16])
        -> [UInt8]
    {
        func bytes(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
        let data = samples.flatMap { bytes($0) }
        let byteRate: UInt32 = rate * UInt32(channels) * 2
        // Piece by piece: Swift 6.0.3 gives up on one long sum.
        let pieces: [[UInt8]] = [
            Array("RIFF".utf8), bytes(UInt32(36 + data.count)), Array("WAVELIST".utf8), bytes(UInt32(3)), [1, 2, 3, 0],
            Array("fmt ".utf8), bytes(UInt32(16)), bytes(kind), bytes(channels), bytes(rate), bytes(byteRate),
            bytes(channels * 2), bytes(UInt16(16)), Array("data".utf8), bytes(UInt32(data.count)), data,
        ]
        return pieces.flatMap { $0 }
    }

    @Test func whatIsRecordedIsReadBackAtEveryMoment() throws {
        var template = Array("/tmp/talkpost-test-XXXXXX".utf8CString)
        close(mkstemp(&template))
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        let recorder = try WAVRecorder(path: path)
        #expect(try WAVReader.samples(ofFile: path).isEmpty)
        let samples = (0..<480).map { Int16($0) }
        for _ in 0..<25 { samples.withUnsafeBufferPointer { recorder.write($0) } }
        #expect(try WAVReader.samples(ofFile: path).count == 20 * 480)
        recorder.flush()
        #expect(try WAVReader.samples(ofFile: path) == Array((0..<25).map { _ in samples }.joined()))
    }

    @Test func aPlaceThatCannotBeWrittenIsNamed() {
        #expect(throws: WAVError.self) { try WAVRecorder(path: "/nonexistent/a.wav") }
    }

    @Test func channelsAreMixedAndOtherChunksSkipped() {
        #expect(WAVReader.samples(in: Self.wav(channels: 2, [100, 300, -5, -7])) == [200, -6])
    }

    @Test func anotherRateKeepsPitchAndLevel() throws {
        let tone = (0..<2_205).map { Int16(8000 * sin(2 * Double.pi * 440 * Double($0) / 22_050)) }
        let samples = try #require(WAVReader.samples(in: Self.wav(rate: 22_050, tone)))
        #expect(samples.count == 4_800)
        let worst = (400..<4_400).map {
            abs(Double(samples[$0]) - 8000 * sin(2 * Double.pi * 440 * Double($0) / 48_000))
        }
        #expect(worst.max().map { $0 < 80 } == true)
    }

    @Test func whatIsNoWAVIsRefused() {
        #expect(WAVReader.samples(in: []) == nil)
        #expect(WAVReader.samples(in: Array("RIFF1234WAVE".utf8)) == nil)
        #expect(WAVReader.samples(in: Self.wav(kind: 3, [1])) == nil)
        #expect(WAVReader.samples(in: Self.wav(rate: 0, [1])) == nil)
        #expect(WAVReader.samples(in: Self.wav(channels: 0, [1])) == nil)
    }

    @Test func mutatedFilesNeverTrap() {
        let seed = Self.wav(rate: 22_050, channels: 2, (0..<200).map { Int16($0) })
        var random = SystemSeeded(state: 5)
        for _ in 0..<300 {
            var bytes = seed
            for _ in 0..<3 { bytes[Int.random(in: 0..<60, using: &random)] = UInt8.random(in: 0...255, using: &random) }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random) / 2)
            #expect((WAVReader.samples(in: bytes)?.count ?? 0) < 10_000)
        }
    }

    private struct SystemSeeded: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
