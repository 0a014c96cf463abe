@testable import Support
@testable import VoiceCore

/// Sounds for tests, and what encodes, decodes and compares them. Mono, 48 kHz, Int16.
enum Sound {
    static func sine(hertz: Double, sampleCount: Int, amplitude: Double = 10_000) -> [Int16] {
        harmonics([amplitude], hertz: hertz, sampleCount: sampleCount)
    }

    /// A tone with its overtones, by a rotation step by step: Swift's own library has no sine.
    private static func harmonics(_ amplitudes: [Double], hertz: Double, sampleCount: Int) -> [Int16] {
        var sum = [Double](repeating: 0, count: sampleCount)
        for (index, amplitude) in amplitudes.enumerated() {
            let (cosine, sine) = rotation(2 * .pi * hertz * Double(index + 1) / 48_000)
            var (x, y) = (1.0, 0.0)
            sum.withUnsafeMutableBufferPointer { sum in
                var position = 0
                while position < sampleCount {
                    (x, y) = (x * cosine - y * sine, x * sine + y * cosine)
                    sum[position] += y * amplitude
                    position += 1
                }
            }
        }
        return sum.map { Int16(max(-32_768, min(32_767, $0))) }
    }

    static func noise(sampleCount: Int, seed: UInt64, amplitude: Int16 = 8000) -> [Int16] {
        var entropy = Entropy.seeded(seed)
        return (0..<sampleCount).map { _ in Int16.random(in: -amplitude...amplitude, using: &entropy) }
    }

    /// Tones of a voice, with a new pitch every 200 ms and a pause after each of 400 ms.
    static func speechLike(sampleCount: Int) -> [Int16] {
        let amplitudes = (1...8).map { 9000 / Double($0 + 1) }
        var sentence: [Int16] = []
        for pitch in [110.0, 127, 144, 161, 178, 195] {
            var tone = harmonics(amplitudes, hertz: pitch, sampleCount: 9600)
            for index in 0..<960 {
                tone[index] = Int16(Int(tone[index]) * index / 960)
                tone[9599 - index] = Int16(Int(tone[9599 - index]) * index / 960)
            }
            sentence += tone
            if sentence.count % 28_800 == 19_200 { sentence += [Int16](repeating: 0, count: 9600) }
        }
        var sound: [Int16] = []
        while sound.count < sampleCount { sound += sentence }
        return Array(sound.prefix(sampleCount))
    }

    static func encode(_ pcm: [Int16], settings: OpusEncoderSettings) throws -> [[UInt8]] {
        var encoder = try OpusEncoder(settings)
        return try encode(pcm, with: &encoder)
    }

    /// Packets of 20 ms.
    static func encode(_ pcm: [Int16], with encoder: inout OpusEncoder) throws -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var bytes = [UInt8](repeating: 0, count: OpusEncoder.largestPacketByteCount)
        for start in stride(from: 0, to: pcm.count - 959, by: 960) {
            let count = try pcm[start..<start + 960].withUnsafeBufferPointer { samples in
                try bytes.withUnsafeMutableBytes { try encoder.encode(samples, into: $0) }
            }
            packets.append(Array(bytes[..<count]))
        }
        return packets
    }

    /// What a bare decoder makes of the packets.
    static func decode(_ packets: [[UInt8]]) throws -> [Int16] {
        var decoder = try OpusDecoder()
        return try packets.flatMap { try decode($0, with: &decoder) }
    }

    static func decode(_ packet: [UInt8], with decoder: inout OpusDecoder) throws -> [Int16] {
        try buffer(5760) { pcm in
            try packet.withUnsafeBytes { bytes in
                guard let packet = OpusPacket(bytes) else { throw OpusError("no packet", code: -4) }
                return try decoder.decode(packet, into: pcm)
            }
        }
    }

    static func hasFEC(_ packet: [UInt8]) -> Bool {
        packet.withUnsafeBytes { OpusPacket($0)?.hasFEC ?? false }
    }

    /// The first samples of a buffer, as many as `body` says it has written.
    static func buffer(_ count: Int, _ body: (UnsafeMutableBufferPointer<Int16>) throws -> Int) rethrows -> [Int16] {
        var samples = [Int16](repeating: 0, count: count)
        let written = try samples.withUnsafeMutableBufferPointer { try body($0) }
        return Array(samples[..<written])
    }

    static func withRoom(_ body: (UnsafeMutableBufferPointer<Int16>) -> Void) {
        _ = buffer(5760) { room in
            body(room)
            return 0
        }
    }

    /// The highest normalised correlation with `heard` up to `maximumLag` samples later.
    static func correlation(_ spoken: [Int16], _ heard: [Int16], maximumLag: Int, skip: Int = 0) -> Double {
        let count = min(spoken.count, heard.count - maximumLag) - skip
        guard count > 0 else { return 0 }
        return spoken.withUnsafeBufferPointer { spoken in
            heard.withUnsafeBufferPointer { heard in
                var best = 0.0
                for lag in stride(from: 0, through: maximumLag, by: 4) {
                    var (product, a, b) = (0, 0, 0)
                    var index = skip
                    while index < skip + count {
                        let (x, y) = (Int(spoken[index]), Int(heard[index + lag]))
                        product += x * y
                        a += x * x
                        b += y * y
                        index += 1
                    }
                    if a > 0, b > 0 { best = max(best, Double(product) / (Double(a) * Double(b)).squareRoot()) }
                }
                return best
            }
        }
    }

    /// Cosine and sine of a small angle, by their series.
    private static func rotation(_ angle: Double) -> (Double, Double) {
        var (cosine, sine, term) = (0.0, 0.0, 1.0)
        for power in 0..<30 {
            switch power % 4 {
            case 0: cosine += term
            case 1: sine += term
            case 2: cosine -= term
            default: sine -= term
            }
            term *= angle / Double(power + 1)
        }
        return (cosine, sine)
    }
}
