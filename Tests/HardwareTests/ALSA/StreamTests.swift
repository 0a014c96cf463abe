import Glibc
import Testing

@testable import Hardware

/// The streams against alsa-lib's own plugins: `null`, which takes any format and never waits, under `file`.
@Suite(.serialized) struct StreamTests {
    private static let shapes: [(rate: Int, channelCount: Int, format: SampleFormat)] = [
        (48_000, 1, .int16), (8_000, 1, .int16), (16_000, 2, .packedInt24), (44_100, 2, .int24), (96_000, 6, .int32),
        (44_100, 1, .float32), (11_025, 2, .int16), (192_000, 1, .int16),
    ]

    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        let file = { (name: String, line: String) in
            "pcm.\(name) { @args [ FILE ] @args.FILE { type string } type file slave { pcm { type null } } \(line) format raw }\n"
        }
        let text = file("mic", "file \"/dev/null\" infile $FILE") + file("speaker", "file $FILE")
        try folder.write("asound.conf", text)
        // alsa-lib looks at it anew at each opening.
        setenv("ALSA_CONFIG_PATH", "\(folder.path)/asound.conf", 1)
    }

    private static func wish(_ shape: (rate: Int, channelCount: Int, format: SampleFormat)) -> PCMWish {
        PCMWish(samplesPerSecond: shape.rate, channelCount: shape.channelCount, formats: [shape.format])
    }

    private static func tone(rate: Int, seconds: Double) -> [Int16] {
        (0..<Int(Double(rate) * seconds)).map { Int16(10_000 * sin(2 * Double.pi * 1000 * Double($0) / Double(rate))) }
    }

    /// The frequency between the first and the last upward zero crossing, each found between two samples.
    private static func frequency(_ samples: ArraySlice<Int16>, rate: Int) -> Double {
        var crossings: [Double] = []
        for index in samples.indices.dropFirst() where samples[index - 1] < 0 && samples[index] >= 0 {
            let (before, after) = (Double(samples[index - 1]), Double(samples[index]))
            crossings.append(Double(index) - after / (after - before))
        }
        guard crossings.count > 1, let first = crossings.first, let last = crossings.last else { return 0 }
        return Double(crossings.count - 1) * Double(rate) / (last - first)
    }

    private static func peak(_ samples: ArraySlice<Int16>) -> Int { samples.map { abs(Int($0)) }.max() ?? 0 }

    @Test(arguments: shapes.indices)
    func aToneKeepsItsFrequencyFromAnyCard(index: Int) throws {
        let shape = Self.shapes[index]
        let tone = Self.tone(rate: shape.rate, seconds: 0.5)
        var bytes = [UInt8](repeating: 0, count: tone.count * shape.channelCount * shape.format.byteCount)
        bytes.withUnsafeMutableBytes { bytes in
            tone.withUnsafeBufferPointer { shape.format.write($0, channelCount: shape.channelCount, into: bytes) }
        }
        try folder.write("in.raw", bytes: bytes)
        let stream = try CaptureStream(
            pcmName: "mic:FILE=\(folder.path)/in.raw", place: "the test", wish: Self.wish(shape))
        var heard: [Int16] = []
        var frame = [Int16](repeating: 0, count: 480)
        for _ in 0..<40 {
            let at = try frame.withUnsafeMutableBufferPointer { try stream.read(into: $0) }
            #expect(at != nil)
            heard += frame
        }
        let steady = heard[4800..<17_000]
        #expect(abs(Self.frequency(steady, rate: 48_000) - 1000) < 0.5)
        #expect((9_500...10_300).contains(Self.peak(steady)))
    }

    @Test(arguments: shapes.indices)
    func aToneKeepsItsFrequencyOnAnyCard(index: Int) throws {
        let shape = Self.shapes[index]
        let tone = Self.tone(rate: 48_000, seconds: 0.5)
        do {
            let stream = try PlaybackStream(
                pcmName: "speaker:FILE=\(folder.path)/out.raw", place: "the test", wish: Self.wish(shape))
            for start in stride(from: 0, to: tone.count, by: 480) {
                try stream.awaitRoom()
                let frame = Array(tone[start..<start + 480])
                let at = try frame.withUnsafeBufferPointer { try stream.write($0) }
                #expect(at != nil)
            }
            #expect(stream.underrunCount == 0)
        }
        let bytes = try #require(folder.bytes("out.raw"))
        var mono = [Int16](repeating: 0, count: bytes.count / shape.channelCount / shape.format.byteCount)
        mono.withUnsafeMutableBufferPointer { mono in
            bytes.withUnsafeBytes { shape.format.read($0, channelCount: shape.channelCount, into: mono) }
        }
        // Nothing but the filter's start is missing.
        #expect(mono.count >= shape.rate * 49 / 100)
        let steady = mono[(shape.rate / 10)..<(shape.rate * 4 / 10)]
        #expect(abs(Self.frequency(steady, rate: shape.rate) - 1000) < 0.5)
        #expect((9_500...10_300).contains(Self.peak(steady)))
    }

    @Test func aPCMThatIsNotThereIsAbsent() throws {
        let error = thrown { () throws(ALSAError) in _ = try CaptureStream(pcmName: "nowhere", place: "the card X") }
        #expect(error?.reason == .absent)
        #expect(error?.what == "the card X is not there")
    }

    @Test(arguments: [
        (EBUSY, ALSAError.Reason.busy), (EACCES, .notPermitted), (EPERM, .notPermitted), (ENODEV, .lost),
        (ENOENT, .absent),
        (EINVAL, .unsupported), (ENOMEM, .lost),
    ])
    func aCodeBecomesAReason(code: Int32, reason: ALSAError.Reason) {
        let error = ALSAError("snd_pcm_open", code: -Int(code), at: "the card X")
        #expect(error.reason == reason)
        #expect(error.what.hasPrefix("the card X"))
    }
}
