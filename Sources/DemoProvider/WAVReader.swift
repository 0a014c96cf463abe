import Glibc

/// Reads a WAV file of 16-bit PCM whole, as mono of 48 kHz.
enum WAVReader {
    /// - Throws: where it cannot be read or is of another kind.
    static func samples(ofFile path: String) throws(WAVError) -> [Int16] {
        guard let file = fopen(path, "rbe") else {
            throw WAVError(message: "The file \(path) cannot be read (\(String(cString: strerror(errno)))).")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count <= 256 << 20 else { throw WAVError(message: "The file \(path) is larger than 256 MiB.") }
        }
        guard let samples = samples(in: bytes) else {
            throw WAVError(message: "The file \(path) is no WAV of 16-bit PCM: convert it with sox FILE -b 16 OUT.wav.")
        }
        return samples
    }

    /// The sound in a file's bytes; nil where they are no WAV of 16-bit PCM.
    static func samples(in bytes: [UInt8]) -> [Int16]? {
        func word(_ offset: Int, _ count: Int) -> Int? {
            guard offset >= 0, offset + count <= bytes.count else { return nil }
            return (0..<count).reduce(0) { $0 | Int(bytes[offset + $1]) << (8 * $1) }
        }
        func tag(_ offset: Int) -> String? {
            offset + 4 <= bytes.count ? String(decoding: bytes[offset..<offset + 4], as: UTF8.self) : nil
        }
        guard tag(0) == "RIFF", tag(8) == "WAVE" else { return nil }
        var format: (channels: Int, rate: Int)?
        var offset = 12
        while let name = tag(offset), let size = word(offset + 4, 4) {
            let start = offset + 8
            switch name {
            case "fmt ":
                // 0xFFFE: the extensible form, which carries the same numbers at the same places.
                guard let kind = word(start, 2), kind == 1 || kind == 0xFFFE, word(start + 14, 2) == 16,
                    let channels = word(start + 2, 2), (1...8).contains(channels),
                    let rate = word(start + 4, 4), (4_000...192_000).contains(rate)
                else { return nil }
                format = (channels, rate)
            case "data":
                guard let format else { return nil }
                // A file still being written, or from a pipe, may name more than is there.
                let end = min(start + size, bytes.count)
                let mono = stride(from: start, to: end - 2 * format.channels + 1, by: 2 * format.channels).map { at in
                    let sum = (0..<format.channels).reduce(0) { sum, channel in
                        let place = at + 2 * channel
                        return sum + Int(Int16(bitPattern: UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8))
                    }
                    return Double(sum) / Double(format.channels)
                }
                return resampled(mono, from: format.rate)
            default: break
            }
            offset = start + size + size % 2
        }
        return nil
    }

    /// To 48 kHz by a sinc of 32 zero crossings with a Hann window, cut off below the lower of both Nyquist frequencies.
    private static func resampled(_ input: [Double], from rate: Int) -> [Int16] {
        func whole(_ value: Double) -> Int16 { Int16(max(-32_768, min(32_767, value.rounded()))) }
        guard rate != 48_000 else { return input.map(whole) }
        let step = Double(rate) / 48_000
        let cutoff = min(1, 1 / step) * 0.95
        let reach = 16 / cutoff
        return (0..<Int(Double(input.count) / step)).map { index in
            let center = Double(index) * step
            var sum = 0.0
            for place in max(0, Int((center - reach).rounded(.up)))...max(0, Int(center + reach)) {
                guard place < input.count else { break }
                let distance = Double(place) - center
                let phase = Double.pi * distance * cutoff
                let sinc = phase == 0 ? 1 : sin(phase) / phase
                sum += input[place] * sinc * cutoff * (0.5 + 0.5 * cos(Double.pi * distance / reach))
            }
            return whole(sum)
        }
    }
}
