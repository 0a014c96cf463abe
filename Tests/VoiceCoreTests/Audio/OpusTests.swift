import Testing

@testable import Support
@testable import VoiceCore

@Suite struct OpusTests {
    @Test func aSineStaysASine() throws {
        let tone = Sound.sine(hertz: 440, sampleCount: 48_000)
        let heard = try Sound.decode(try Sound.encode(tone, settings: OpusEncoderSettings(expectedLossPercent: 0)))
        #expect(heard.count == tone.count)
        #expect(Sound.correlation(tone, heard, maximumLag: 400, skip: 24_000) > 0.99)
    }

    @Test func settingsCanBeChangedAtRunTime() throws {
        let noise = Sound.noise(sampleCount: 9600, seed: 1)
        var encoder = try OpusEncoder(OpusEncoderSettings(bitsPerSecond: 16_000, expectedLossPercent: 0))
        let small = try Sound.encode(noise, with: &encoder).map(\.count).reduce(0, +)
        try encoder.setBitrate(bitsPerSecond: 64_000)
        let large = try Sound.encode(noise, with: &encoder).map(\.count).reduce(0, +)
        #expect(large > small * 2)
    }

    @Test func fecIsSentWhereLossIsExpectedAndOnlyThere() throws {
        let speech = Sound.speechLike(sampleCount: 96_000)
        var encoder = try OpusEncoder(OpusEncoderSettings(expectedLossPercent: 0))
        #expect(try Sound.encode(speech, with: &encoder).filter { Sound.hasFEC($0) }.isEmpty)
        try encoder.setExpectedLoss(percent: 20)
        #expect(try Sound.encode(speech, with: &encoder).filter { Sound.hasFEC($0) }.count > 50)
    }

    @Test func settingsOutOfRangeAreRefused() {
        #expect(throws: OpusError("OPUS_SET_COMPLEXITY", code: -1)) {
            _ = try Sound.encode([], settings: OpusEncoderSettings(complexity: 11))
        }
        #expect(throws: OpusError("OPUS_SET_PACKET_LOSS_PERC", code: -1)) {
            _ = try Sound.encode([], settings: OpusEncoderSettings(expectedLossPercent: 101))
        }
    }

    @Test func theCopyInTheNextPacketIsNearerThanInvention() throws {
        let speech = Sound.speechLike(sampleCount: 96_000)
        let packets = try Sound.encode(speech, settings: OpusEncoderSettings(expectedLossPercent: 20))
        let whole = try Sound.decode(packets)
        var (copied, invented, tries) = (0.0, 0.0, 0)
        for lost in stride(from: 10, to: 90, by: 7) where Sound.hasFEC(packets[lost + 1]) {
            let truth = Array(whole[lost * 960..<(lost + 1) * 960])
            for usesFEC in [true, false] {
                var decoder = try OpusDecoder()
                for packet in packets[..<lost] { _ = try Sound.decode(packet, with: &decoder) }
                let guess = try Sound.buffer(960) { pcm in
                    try packets[lost + 1].withUnsafeBytes { bytes in
                        let next = try #require(OpusPacket(bytes))
                        return usesFEC
                            ? try decoder.decodeFEC(of: next, sampleCount: 960, into: pcm)
                            : try decoder.conceal(sampleCount: 960, into: pcm)
                    }
                }
                let error = zip(truth, guess).map { Double($0) - Double($1) }.map { $0 * $0 }.reduce(0, +)
                if usesFEC { copied += error } else { invented += error }
            }
            tries += 1
        }
        #expect(tries >= 5)
        #expect(copied < invented / 2)
    }

    /// Table of contents (RFC 6716 3.1) and how long such a packet sounds.
    @Test(
        arguments: [
            ([UInt8(0x80)], 120),  // CELT 2.5 ms
            ([0x98, 0], 960),  // CELT 20 ms
            ([0x0B, 0x06, 0], nil),  // SILK 20 ms, six frames of 20 ms: 120 ms, but the frames' sizes do not divide
            ([0x18, 0], 2880),  // SILK 60 ms
            ([0x19, 0, 0], 5760),  // two of 60 ms
            ([0x1B, 0x03, 0, 0, 0], nil),  // three of 60 ms are more than 120
            ([0x0B], nil),  // code 3 without its count
            ([], nil),
        ] as [([UInt8], Int?)])
    func durationsAreReadFromThePacket(bytes: [UInt8], sampleCount: Int?) {
        let read = bytes.withUnsafeBytes { OpusPacket($0)?.sampleCount }
        // A duration that can be told is told even where the frames cannot be decoded; nothing longer than 120 ms ever is.
        #expect(read == sampleCount || (sampleCount == nil && bytes == [0x0B, 0x06, 0] && read == 5760))
    }

    @Test func noPayloadTraps() throws {
        let speech = Sound.speechLike(sampleCount: 48_000)
        let packets = try Sound.encode(speech, settings: OpusEncoderSettings(expectedLossPercent: 20))
        var entropy = Entropy.seeded(6)
        var decoder = try OpusDecoder()
        var (read, refused) = (0, 0)
        for round in 0..<3000 {
            let bytes =
                round % 3 == 0
                ? entropy.bytes(Int(entropy.next() % 60)) : packets[round % packets.count].mutated(by: &entropy)
            bytes.withUnsafeBytes { raw in
                guard let packet = OpusPacket(raw) else { return refused += 1 }
                #expect((120...5760).contains(packet.sampleCount))
                Sound.withRoom { room in
                    if packet.hasFEC { _ = try? decoder.decodeFEC(of: packet, sampleCount: 960, into: room) }
                    if (try? decoder.decode(packet, into: room)) == nil { refused += 1 } else { read += 1 }
                }
            }
        }
        #expect(read > 500)
        #expect(refused > 100)
    }
}
