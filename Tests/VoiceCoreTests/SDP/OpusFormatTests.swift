import Testing

@testable import VoiceCore

@Suite struct OpusFormatTests {
    @Test func parametersAreRead() {
        let text = "minptime=10; useinbandfec=1;STEREO=1;usedtx=1;cbr=1;maxaveragebitrate=20000;maxplaybackrate=16000"
        var expected = OpusFormat(payloadType: 111)
        expected.usesInbandFEC = true
        expected.prefersStereo = true
        expected.usesDTX = true
        expected.prefersConstantBitrate = true
        expected.minptime = .milliseconds(10)
        expected.maxAverageBitsPerSecond = 20_000
        expected.maxPlaybackSamplesPerSecond = 16_000
        #expect(OpusFormat(payloadType: 111, parameters: SDPText(text)) == expected)
    }

    @Test(arguments: [
        "", ";;;", "=", "useinbandfec", "useinbandfec=", "useinbandfec=0", "stereo=yes", "111/111", "a=b=c",
    ])
    func whatSaysNothingChangesNothing(text: String) {
        #expect(OpusFormat(payloadType: 1, parameters: SDPText(text)) == OpusFormat(payloadType: 1))
    }

    @Test(arguments: [("0", 6_000), ("1000000", 510_000), ("99999999999999999999999", 510_000)])
    func bitRatesAreClamped(text: String, bitsPerSecond: Int) {
        let format = OpusFormat(payloadType: 1, parameters: SDPText("maxaveragebitrate=" + text))
        #expect(format.maxAverageBitsPerSecond == bitsPerSecond)
    }

    private static let packetTimes: [(String, Duration?)] = [
        ("20", Duration.milliseconds(20)), ("2.5", .microseconds(2_500)), ("0", .microseconds(2_500)),
        ("120", .milliseconds(120)), ("121", .milliseconds(120)), ("99999999999999999999", .milliseconds(120)),
        ("20.", .milliseconds(20)), ("20.x", .milliseconds(20)), ("", nil), ("-1", nil), (".5", nil), ("twenty", nil),
    ]

    @Test(arguments: packetTimes)
    func packetTimesAreClampedToWhatAPacketCanLast(text: String, duration: Duration?) {
        #expect(Duration(sdpMilliseconds: SDPText(text)) == duration)
    }
}
