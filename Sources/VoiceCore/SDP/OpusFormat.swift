/// Opus as one side of a session wants to receive it (RFC 7587 6.1 and 7).
struct OpusFormat: Hashable, Sendable {
    /// What its packets carry in the RTP header, both ways.
    var payloadType: UInt8
    /// The decoder makes use of in-band FEC.
    var usesInbandFEC = false
    /// Stereo is preferred; mono is always taken.
    var prefersStereo = false
    /// Pauses in the stream are preferred to encoded silence.
    var usesDTX = false
    var prefersConstantBitrate = false
    /// The shortest packet that is liked.
    var minptime: Duration?
    var maxAverageBitsPerSecond: Int?
    var maxPlaybackSamplesPerSecond: Int?

    init(payloadType: UInt8) {
        self.payloadType = payloadType
    }

    /// - Parameter parameters: what follows the payload type in a=fmtp; unknown or odd ones are passed over.
    init(payloadType: UInt8, parameters: SDPText) {
        self.init(payloadType: payloadType)
        var parameters = parameters
        while !parameters.isEmpty {
            var value = parameters.field(before: UInt8(ascii: ";"))
            let name = value.field(before: UInt8(ascii: "="))
            read(name.string.lowercased(), value)
        }
    }

    private mutating func read(_ name: String, _ value: SDPText) {
        switch name {
        case "useinbandfec": usesInbandFEC = value.number == 1
        case "stereo": prefersStereo = value.number == 1
        case "usedtx": usesDTX = value.number == 1
        case "cbr": prefersConstantBitrate = value.number == 1
        case "minptime": minptime = Duration(sdpMilliseconds: value)
        case "maxaveragebitrate":
            // RFC 7587 6.1: 6,000 to 510,000
            maxAverageBitsPerSecond = value.number.map { Int(min(max($0, 6_000), 510_000)) }
        case "maxplaybackrate":
            // RFC 7587 6.1: 8,000 to 48,000
            maxPlaybackSamplesPerSecond = value.number.map { Int(min(max($0, 8_000), 48_000)) }
        default: break
        }
    }
}

extension Duration {
    /// Milliseconds as a=ptime has them, with or without decimals, clamped to what an Opus packet can last (RFC 6716 2.1.4:
    /// 2.5 to 120 ms); nil where it is no number.
    init?(sdpMilliseconds text: SDPText) {
        var text = text
        let whole = text.field(before: UInt8(ascii: "."))
        guard let milliseconds = whole.number else { return nil }
        var microseconds = Int64(min(milliseconds, 120)) * 1_000
        if let tenths = text.string.utf8.first, (0x30...0x39).contains(tenths) {
            microseconds += Int64(tenths & 0x0F) * 100
        }
        self = .microseconds(min(max(microseconds, 2_500), 120_000))
    }
}
