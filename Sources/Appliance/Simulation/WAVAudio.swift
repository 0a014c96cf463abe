import Glibc

/// Why a WAV file cannot be used; the sentence goes into a device's error.
struct WAVError: Error, Equatable, CustomStringConvertible {
    var description: String
}

/// The sound of a WAV file as a talk post uses it: 48 kHz, mono, Int16. Pure: bytes in, samples out.
///
/// Takes 16-bit PCM of any usual rate with one or more channels, which are averaged. A length that a writer never filled in, as
/// in a stream or after a kill, means the rest of the file.
struct WAVAudio: Equatable, Sendable {
    /// 48 kHz, mono.
    let samples: [Int16]

    init(samples: [Int16]) {
        self.samples = samples
    }

    /// - Throws: what is wrong with the file.
    init(parsing bytes: [UInt8]) throws(WAVError) {
        guard bytes.count >= 12, Self.tag(bytes, at: 0) == "RIFF", Self.tag(bytes, at: 8) == "WAVE" else {
            throw WAVError(description: "it is no WAV file")
        }
        var format: Format?
        var offset = 12
        while offset + 8 <= bytes.count {
            let claimed = Self.number(bytes, at: offset + 4, byteCount: 4)
            let body = bytes[(offset + 8)...].prefix(claimed)
            switch Self.tag(bytes, at: offset) {
            case "fmt ": format = try Format(body)
            case "data":
                guard let format else { throw WAVError(description: "its sound comes before its format") }
                let isUnfinished = claimed == 0 || claimed == 0xFFFF_FFFF
                let sound = isUnfinished ? bytes[(offset + 8)...] : body
                samples = Resampler.resample(Self.mono(sound, format), from: format.samplesPerSecond)
                return
            default: break
            }
            // Chunks start at even offsets (RIFF specification, "Chunks").
            offset += 8 + claimed + claimed % 2
        }
        throw WAVError(description: "it holds no sound")
    }

    /// Reads a file whole. May block: never on main or on a real-time thread in a call.
    init(file path: String) throws(WAVError) {
        guard let bytes = SmallFile.read(path, byteLimit: Self.byteLimit) else {
            throw WAVError(description: errno == EFBIG ? "it is larger than 256 MiB" : String(cString: strerror(errno)))
        }
        try self.init(parsing: bytes)
    }

    /// 45 minutes of 48 kHz mono.
    private static let byteLimit = 256 << 20

    private struct Format {
        var channelCount: Int
        var samplesPerSecond: Int

        init(_ body: ArraySlice<UInt8>) throws(WAVError) {
            let bytes = Array(body.prefix(40))
            guard bytes.count >= 16 else { throw WAVError(description: "its format is cut short") }
            // WAVE_FORMAT_PCM, and WAVE_FORMAT_EXTENSIBLE with the same in its first two bytes of sub-format (mmreg.h).
            let kind = WAVAudio.number(bytes, at: 0, byteCount: 2)
            let isPCM = kind == 1 || kind == 0xFFFE && WAVAudio.number(bytes, at: 24, byteCount: 2) == 1
            guard isPCM, WAVAudio.number(bytes, at: 14, byteCount: 2) == 16 else {
                throw WAVError(description: "it is not 16-bit PCM")
            }
            channelCount = WAVAudio.number(bytes, at: 2, byteCount: 2)
            samplesPerSecond = WAVAudio.number(bytes, at: 4, byteCount: 4)
            guard (1...32).contains(channelCount), (4000...384_000).contains(samplesPerSecond) else {
                throw WAVError(
                    description:
                        "it has \(channelCount) channels at \(samplesPerSecond) Hz, and 1 to 32 at 4000 to 384000 are read"
                )
            }
        }
    }

    private static func mono(_ sound: ArraySlice<UInt8>, _ format: Format) -> [Int16] {
        let frameBytes = 2 * format.channelCount
        return sound.withUnsafeBytes { bytes in
            (0..<bytes.count / frameBytes).map { frame in
                var sum = 0
                for channel in 0..<format.channelCount {
                    let raw = bytes.loadUnaligned(fromByteOffset: frame * frameBytes + 2 * channel, as: Int16.self)
                    sum += Int(Int16(littleEndian: raw))
                }
                return Int16(truncatingIfNeeded: sum / format.channelCount)
            }
        }
    }

    private static func tag(_ bytes: [UInt8], at offset: Int) -> String {
        String(decoding: bytes[offset..<offset + 4], as: UTF8.self)
    }

    /// A little-endian number; 0 where the bytes end before it does.
    private static func number(_ bytes: [UInt8], at offset: Int, byteCount: Int) -> Int {
        guard offset + byteCount <= bytes.count else { return 0 }
        return (0..<byteCount).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
    }
}
