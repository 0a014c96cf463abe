import Testing

@testable import Hardware

@Suite struct SampleFormatTests {
    private static let samples: [Int16] = [0, 1, -1, 2, 100, -100, 12_345, -12_345, .max, .min]

    private static func written(_ samples: [Int16], _ format: SampleFormat, channelCount: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xAA, count: samples.count * channelCount * format.byteCount)
        bytes.withUnsafeMutableBytes { bytes in
            samples.withUnsafeBufferPointer { format.write($0, channelCount: channelCount, into: bytes) }
        }
        return bytes
    }

    private static func read(_ bytes: [UInt8], _ format: SampleFormat, channelCount: Int) -> [Int16] {
        var mono = [Int16](repeating: 0, count: bytes.count / channelCount / format.byteCount)
        mono.withUnsafeMutableBufferPointer { mono in
            bytes.withUnsafeBytes { format.read($0, channelCount: channelCount, into: mono) }
        }
        return mono
    }

    @Test(arguments: SampleFormat.allCases, [1, 2, 3, 8])
    func whatIsWrittenIsReadBackUnchanged(format: SampleFormat, channelCount: Int) {
        let bytes = Self.written(Self.samples, format, channelCount: channelCount)
        #expect(Self.read(bytes, format, channelCount: channelCount) == Self.samples)
    }

    @Test(
        arguments: [
            (SampleFormat.int16, [0x34, 0x12]), (.int32, [0, 0, 0x34, 0x12]), (.int24, [0, 0x34, 0x12, 0]),
            (.packedInt24, [0, 0x34, 0x12]), (.float32, [0x00, 0xA0, 0x11, 0x3E]),
        ] as [(SampleFormat, [UInt8])])
    func theBytesAreThoseOfTheFormat(format: SampleFormat, bytes: [UInt8]) {
        #expect(Self.written([0x1234], format, channelCount: 1) == bytes)
    }

    @Test func aNegative24BitSampleKeepsItsSign() {
        #expect(Self.written([-2], .int24, channelCount: 1) == [0, 0xFE, 0xFF, 0xFF])
        // Only the low 24 bits count, whatever a card leaves in the rest.
        #expect(Self.read([0, 0xFE, 0xFF, 0x00], .int24, channelCount: 1) == [-2])
    }

    @Test func aMicrophonesFrontPairIsMixedAndFurtherChannelsAreNot() {
        let bytes: [UInt8] = [100, 0, 200, 0, 0xFF, 0x7F, 0xFE, 0xFF, 0xFC, 0xFF, 0, 0x80]
        #expect(Self.read(bytes, .int16, channelCount: 3) == [150, -3])
    }

    @Test func twoLoudChannelsDoNotOverflow() {
        #expect(Self.read([0xFF, 0x7F, 0xFF, 0x7F, 0, 0x80, 0, 0x80], .int16, channelCount: 2) == [.max, .min])
    }

    @Test(arguments: [
        (Float(2), Int16.max), (-2, .min), (.infinity, 0), (.nan, 0), (1, .max), (-1, .min), (0.5, 16_384),
    ])
    func aFloatBeyondFullScaleIsClipped(value: Float, sample: Int16) {
        let bits = value.bitPattern
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }
        #expect(Self.read(bytes, .float32, channelCount: 1) == [sample])
    }

    @Test func fullScaleOf32BitsDoesNotOverflow() {
        #expect(Self.read([0xFF, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0x80], .int32, channelCount: 1) == [.max, .min])
    }
}
