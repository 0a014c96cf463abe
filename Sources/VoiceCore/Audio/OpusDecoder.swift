internal import COpus

/// Decodes Opus packets of any kind to mono 48 kHz and invents what is lost (RFC 6716).
///
/// A Playout owns it. It never allocates after its init, and no payload can make it trap: libopus mixes stereo down by itself.
struct OpusDecoder: ~Copyable {
    /// Where libopus is built with it, lost sound is continued by a network of its own (1.5, "deep PLC"); the sound of packets that came
    /// stays the same to the bit. From 6 on that changes too.
    private static let concealmentComplexity: Int32 = 5

    private let decoder: OpaquePointer
    /// Whether this libopus has a complexity of decoding, which is what chooses deep concealment; whether it was built with it, it does not say.
    let hasDeepConcealment: Bool

    /// - Throws: libopus has no memory.
    init() throws(OpusError) {
        var code: Int32 = 0
        guard let decoder = opus_decoder_create(Int32(AudioFormat.samplesPerSecond), 1, &code) else {
            throw OpusError("opus_decoder_create", code: code)
        }
        // Before 1.5 a decoder refuses this, and invents as it always did.
        hasDeepConcealment =
            talkpost_opus_decoder_set(decoder, OPUS_SET_COMPLEXITY_REQUEST, Self.concealmentComplexity) == OPUS_OK
        self.decoder = decoder
    }

    deinit {
        opus_decoder_destroy(decoder)
    }

    /// - Parameter pcm: room for the packet's samples: mono, 48 kHz, Int16.
    /// - Returns: the number of samples written.
    /// - Throws: no packet that libopus can read; conceal it.
    mutating func decode(_ packet: OpusPacket, into pcm: UnsafeMutableBufferPointer<Int16>) throws(OpusError) -> Int {
        try decode(packet.bytes, sampleCount: packet.sampleCount, fec: 0, into: pcm, "opus_decode")
    }

    /// The lost sound right before `next`, from the copy that `next` carries.
    /// - Parameters:
    ///   - sampleCount: what is missing, a multiple of 120; the copy covers its last frame, the rest is concealed.
    ///   - pcm: room for that many samples: mono, 48 kHz, Int16.
    mutating func decodeFEC(
        of next: OpusPacket, sampleCount: Int, into pcm: UnsafeMutableBufferPointer<Int16>
    ) throws(OpusError) -> Int {
        try decode(next.bytes, sampleCount: sampleCount, fec: 1, into: pcm, "opus_decode with FEC")
    }

    /// Continues the sound before by invention.
    /// - Parameters:
    ///   - sampleCount: a multiple of 120, at most 5760.
    ///   - pcm: room for that many samples: mono, 48 kHz, Int16.
    mutating func conceal(
        sampleCount: Int, into pcm: UnsafeMutableBufferPointer<Int16>
    ) throws(OpusError) -> Int {
        try decode(
            UnsafeRawBufferPointer(start: nil, count: 0), sampleCount: sampleCount, fec: 0, into: pcm,
            "opus_decode of nothing")
    }

    /// Forgets the sound before, as another sender's begins.
    mutating func reset() {
        _ = talkpost_opus_decoder_reset(decoder)  // cannot fail on a decoder that was made
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, sampleCount: Int, fec: Int32, into pcm: UnsafeMutableBufferPointer<Int16>,
        _ operation: StaticString
    ) throws(OpusError) -> Int {
        guard let start = pcm.baseAddress, sampleCount > 0, sampleCount <= pcm.count else {
            preconditionFailure("no room for the sound")
        }
        let decoded = opus_decode(
            decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: bytes.count),
            start, Int32(clamping: sampleCount), fec)
        try OpusError.check(decoded, operation)
        return Int(decoded)
    }
}
