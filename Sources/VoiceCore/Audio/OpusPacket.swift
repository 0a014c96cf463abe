internal import COpus

/// What can be known of an Opus packet without decoding it (RFC 6716 3). It must not outlive its bytes.
struct OpusPacket {
    let bytes: UnsafeRawBufferPointer
    /// How long it sounds, in samples of 48 kHz: 120 to 5760.
    let sampleCount: Int
    /// How long one of its frames sounds.
    let frameSampleCount: Int

    /// - Returns: nil where the bytes are no Opus packet.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), !bytes.isEmpty else { return nil }
        let rate = Int32(AudioFormat.samplesPerSecond)
        let count = opus_packet_get_nb_samples(start, Int32(clamping: bytes.count), rate)
        guard count > 0, count <= AudioFormat.longestPacketSampleCount else { return nil }
        self.bytes = bytes
        sampleCount = Int(count)
        frameSampleCount = Int(opus_packet_get_samples_per_frame(start, rate))
    }

    /// Whether it is one of those few that an encoder sends in a pause instead of sound (DTX): no more than a table of contents and
    /// a frame of at most one byte (RFC 6716 2.1.9, 3.4).
    var describesRoom: Bool { bytes.count <= 2 }

    /// Whether it carries the sound before its own once more (RFC 6716 4.2.4, LBRR).
    ///
    /// libopus has a function for it only from 1.5 on.
    var hasFEC: Bool {
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes[0] & 0x80 == 0 else {
            return false  // CELT alone has none
        }
        return withUnsafeTemporaryAllocation(of: Int16.self, capacity: 48) { sizes in  // 48: RFC 6716 3.2.5
            guard let sizeStart = sizes.baseAddress else { return false }
            var offset: Int32 = 0
            let count = opus_packet_parse(start, Int32(clamping: bytes.count), nil, nil, sizeStart, &offset)
            guard count > 0, sizes[0] > 0, offset > 0, Int(offset) < bytes.count else { return false }
            let first = bytes[Int(offset)]
            // RFC 6716 4.2.3: for each channel one voice bit a SILK frame (one of 10 or 20 ms, two, or three), then the LBRR bit.
            let silkFrameCount = max(1, frameSampleCount / 960)
            let mono = first >> (7 - silkFrameCount) & 1 != 0
            guard bytes[0] & 0x04 != 0 else { return mono }
            return mono || first >> max(0, 6 - 2 * silkFrameCount) & 1 != 0
        }
    }
}
