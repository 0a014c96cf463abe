internal import COpus

/// What an encoder is set to.
struct OpusEncoderSettings: Equatable, Sendable {
    var bitsPerSecond = 32_000
    /// 0 to 10.
    var complexity = 5
    /// The loss that in-band FEC is made for; 0 turns FEC off.
    var expectedLossPercent = 10
}

/// Encodes 20 ms of mono 48 kHz speech into one Opus packet (RFC 6716).
///
/// The capture thread owns it. It never allocates after its init. DTX is off: a muted microphone is sent as encoded silence.
struct OpusEncoder: ~Copyable {
    /// What one packet can take at most (RFC 6716 3.2.1: a frame has at most 1275 bytes, and the table of contents one).
    static let largestPacketByteCount = 1276

    private let encoder: OpaquePointer

    /// - Throws: libopus has no memory, or a setting is out of its range.
    init(_ settings: OpusEncoderSettings) throws(OpusError) {
        var code: Int32 = 0
        guard
            let encoder = opus_encoder_create(
                Int32(AudioFormat.samplesPerSecond), 1, OPUS_APPLICATION_VOIP, &code)
        else { throw OpusError("opus_encoder_create", code: code) }
        do {
            try Self.set(encoder, OPUS_SET_SIGNAL_REQUEST, OPUS_SIGNAL_VOICE, "OPUS_SET_SIGNAL")
            try Self.set(encoder, OPUS_SET_DTX_REQUEST, 0, "OPUS_SET_DTX")
            try Self.set(encoder, OPUS_SET_BITRATE_REQUEST, settings.bitsPerSecond, "OPUS_SET_BITRATE")
            try Self.set(encoder, OPUS_SET_COMPLEXITY_REQUEST, settings.complexity, "OPUS_SET_COMPLEXITY")
            try Self.setExpectedLoss(encoder, percent: settings.expectedLossPercent)
        } catch {
            opus_encoder_destroy(encoder)
            throw error
        }
        self.encoder = encoder
    }

    deinit {
        opus_encoder_destroy(encoder)
    }

    /// - Parameters:
    ///   - pcm: 960 samples, mono, 48 kHz, Int16.
    ///   - packet: takes up to 1276 bytes.
    /// - Returns: the packet's size in bytes.
    /// - Throws: libopus refused; nothing was written, the packet is left out.
    mutating func encode(
        _ pcm: UnsafeBufferPointer<Int16>, into packet: UnsafeMutableRawBufferPointer
    ) throws(OpusError) -> Int {
        guard
            let samples = pcm.baseAddress, pcm.count == AudioFormat.packetSampleCount,
            let start = packet.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else { preconditionFailure("one packet's samples, and room for it") }
        let byteCount = opus_encode(
            encoder, samples, Int32(pcm.count), start, Int32(clamping: packet.count))
        try OpusError.check(byteCount, "opus_encode")
        return Int(byteCount)
    }

    /// From the next packet on.
    /// - Parameter bitsPerSecond: 500 to 512,000.
    mutating func setBitrate(bitsPerSecond: Int) throws(OpusError) {
        try Self.set(encoder, OPUS_SET_BITRATE_REQUEST, bitsPerSecond, "OPUS_SET_BITRATE")
    }

    /// From the next packet on; in-band FEC is sent where it is above 0.
    /// - Parameter percent: 0 to 100.
    mutating func setExpectedLoss(percent: Int) throws(OpusError) {
        try Self.setExpectedLoss(encoder, percent: percent)
    }

    /// From the next packet on, as far as libopus takes it: what was set before is as good for a packet that is due.
    mutating func follow(_ expected: ExpectedLoss) {
        try? Self.set(encoder, OPUS_SET_BITRATE_REQUEST, expected.bitsPerSecond, "OPUS_SET_BITRATE")
        try? Self.setExpectedLoss(encoder, percent: expected.percent)
    }

    private static func setExpectedLoss(_ encoder: OpaquePointer, percent: Int) throws(OpusError) {
        try set(encoder, OPUS_SET_PACKET_LOSS_PERC_REQUEST, percent, "OPUS_SET_PACKET_LOSS_PERC")
        try set(encoder, OPUS_SET_INBAND_FEC_REQUEST, percent > 0 ? 1 : 0, "OPUS_SET_INBAND_FEC")
    }

    private static func set(
        _ encoder: OpaquePointer, _ request: Int32, _ value: some BinaryInteger, _ operation: StaticString
    ) throws(OpusError) {
        try OpusError.check(talkpost_opus_encoder_set(encoder, request, Int32(clamping: value)), operation)
    }
}
