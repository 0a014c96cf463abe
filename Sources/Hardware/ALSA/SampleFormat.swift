/// How a card writes one sample. Pure: between a card's bytes and mono Int16, without allocating.
///
/// Little endian only, as every machine that this runs on and every USB card is.
enum SampleFormat: CaseIterable, Sendable {
    /// In the order in which they are asked for: the cheapest first.
    case int16
    case int32
    /// 24 bits in the low end of 32.
    case int24
    /// 24 bits in three bytes.
    case packedInt24
    case float32

    var byteCount: Int {
        switch self {
        case .int16: 2
        case .packedInt24: 3
        case .int24, .int32, .float32: 4
        }
    }

    /// Makes mono of a card's samples: the mean of the first two channels, the front pair. What stands in further channels of a
    /// microphone array may be what the speaker plays, which must not be sent back.
    /// - Parameters:
    ///   - bytes: `mono.count` samples of `channelCount` interleaved channels.
    ///   - mono: filled.
    func read(
        _ bytes: UnsafeRawBufferPointer, channelCount: Int, into mono: UnsafeMutableBufferPointer<Int16>
    ) {
        let stride = channelCount * byteCount
        precondition(channelCount > 0 && bytes.count >= mono.count * stride, "fewer bytes than samples")
        for index in 0..<mono.count {
            let place = index * stride
            let left = sample(bytes, at: place)
            mono[index] =
                channelCount == 1 ? left : Int16((Int32(left) + Int32(sample(bytes, at: place + byteCount))) / 2)
        }
    }

    /// Writes mono to every channel of a card: whichever a speaker hangs on, it is heard.
    /// - Parameter bytes: room for `mono.count` samples of `channelCount` interleaved channels.
    func write(
        _ mono: UnsafeBufferPointer<Int16>, channelCount: Int, into bytes: UnsafeMutableRawBufferPointer
    ) {
        precondition(bytes.count >= mono.count * channelCount * byteCount, "less room than samples")
        var place = 0
        for sample in mono {
            for _ in 0..<channelCount {
                put(sample, in: bytes, at: place)
                place += byteCount
            }
        }
    }

    private func sample(_ bytes: UnsafeRawBufferPointer, at place: Int) -> Int16 {
        switch self {
        case .int16: Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int16.self))
        case .int32:
            Self.rounded(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)))
        case .int24:
            Self.rounded(
                Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int32.self)) << 8)
        case .packedInt24:
            Self.rounded(
                Int32(
                    truncatingIfNeeded: UInt32(bytes[place]) << 8 | UInt32(bytes[place + 1]) << 16
                        | UInt32(bytes[place + 2]) << 24))
        case .float32:
            Self.clamped(
                Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))))
        }
    }

    private func put(_ sample: Int16, in bytes: UnsafeMutableRawBufferPointer, at place: Int) {
        switch self {
        case .int16: bytes.storeBytes(of: sample.littleEndian, toByteOffset: place, as: Int16.self)
        case .int32:
            bytes.storeBytes(of: (Int32(sample) << 16).littleEndian, toByteOffset: place, as: Int32.self)
        case .int24:
            bytes.storeBytes(of: (Int32(sample) << 8).littleEndian, toByteOffset: place, as: Int32.self)
        case .packedInt24:
            bytes[place] = 0
            bytes.storeBytes(of: sample.littleEndian, toByteOffset: place + 1, as: Int16.self)
        case .float32:
            let value = Float(sample) / 32_768
            bytes.storeBytes(of: value.bitPattern.littleEndian, toByteOffset: place, as: UInt32.self)
        }
    }

    /// The upper 16 of 32 bits, to the nearest.
    private static func rounded(_ sample: Int32) -> Int16 {
        let (sum, overflow) = sample.addingReportingOverflow(0x8000)
        return overflow ? .max : Int16(truncatingIfNeeded: sum >> 16)
    }

    /// A card may give more than full scale, and bytes of any card may be no number.
    private static func clamped(_ sample: Float) -> Int16 {
        guard sample.isFinite else { return 0 }
        return Int16(max(-32_768, min(32_767, (sample * 32_768).rounded())))
    }
}
