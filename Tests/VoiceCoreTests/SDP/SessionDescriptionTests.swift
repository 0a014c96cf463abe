import Testing

@testable import VoiceCore

@Suite struct SessionDescriptionTests {
    /// What a fixture says, as the engine gets to know it.
    struct Facts: Sendable, CustomTestStringConvertible {
        var fixture: SDPFixture
        var isICELite = false
        var fragment: String
        var candidates: [String]
        var skippedCandidateCount = 0
        var endsCandidates = false
        var setup = SetupRole.passive
        var algorithms = [Fingerprint.Algorithm.sha256]
        var firstDigestByte: UInt8
        var mid = "0"
        var payloadType: UInt8
        var usesInbandFEC = false
        var direction = MediaDirection.sendrecv
        var usesReducedSizeRTCP = false
        var ssrc: UInt32?
        var applicationMid = "1"
        var maxMessageByteCount = 262_144

        var testDescription: String { fixture.rawValue }
    }

    static let allHashes: [Fingerprint.Algorithm] = [.sha256, .sha384, .sha512]
    static let relays = ["192.0.2.10", "198.51.100.11", "203.0.113.12"].flatMap {
        ["udp \($0):3478", "passive \($0):443"]
    }
    static func gstreamer(_ ports: [UInt16]) -> [String] {
        zip(["192.0.2.20", "[fe80::1]", "[fe80::2]"], [0, 2, 4]).flatMap { address, index in
            ["udp \(address):\(ports[index])", "active \(address):9", "passive \(address):\(ports[index + 1])"]
        }
    }

    static let facts = [
        Facts(
            fixture: .aiortcAnswer, fragment: "CF9T", candidates: ["udp 192.0.2.10:46771", "udp [2001:db8::10]:42952"],
            endsCandidates: true, algorithms: allHashes, firstDigestByte: 0x87, payloadType: 111),
        Facts(
            fixture: .aiortcAnswerPassive, fragment: "FHny",
            candidates: ["udp 192.0.2.10:36007", "udp [2001:db8::10]:42404"],
            endsCandidates: true, setup: .active, algorithms: allHashes, firstDigestByte: 0x92, payloadType: 111,
            ssrc: 3_695_017_643),
        Facts(
            fixture: .aiortcAnswerToGStreamer, fragment: "4H2F", candidates: ["udp 192.0.2.20:57265"],
            endsCandidates: true, algorithms: allHashes, firstDigestByte: 0x3A, mid: "audio0", payloadType: 111,
            ssrc: 3_846_788_287, applicationMid: "application1"),
        // The application section's own port belongs to a transport that BUNDLE does away with.
        Facts(
            fixture: .aiortcOffer, fragment: "C2LK", candidates: ["udp 192.0.2.20:57125"], endsCandidates: true,
            setup: .active, algorithms: allHashes, firstDigestByte: 0x2A, payloadType: 96, ssrc: 2_700_086_522),
        // Video comes first and speaks for the group in the offer, but is refused by us; its port is not used.
        Facts(
            fixture: .browserOfferWithVideo, fragment: "vidU", candidates: ["udp 192.0.2.20:41001"], setup: .active,
            firstDigestByte: 0x4D, mid: "audio1", payloadType: 111, usesInbandFEC: true, direction: .recvonly,
            usesReducedSizeRTCP: false, ssrc: 966_172_927, applicationMid: "data2"),
        Facts(
            fixture: .chromiumAnswer, fragment: "QkHE", candidates: ["udp 192.0.2.20:41767"], firstDigestByte: 0x4D,
            payloadType: 96, usesInbandFEC: true, ssrc: 1_568_318_744),
        Facts(
            fixture: .chromiumOffer, fragment: "fpGO", candidates: ["udp 192.0.2.20:35203", "active 192.0.2.20:9"],
            setup: .active, firstDigestByte: 0x3A, payloadType: 111, usesInbandFEC: true, usesReducedSizeRTCP: true,
            ssrc: 966_172_927),
        Facts(
            fixture: .embeddedOffer, fragment: "HNCV", candidates: ["udp 192.0.2.10:51042"], setup: .active,
            firstDigestByte: 0x9A, payloadType: 111, ssrc: 8),
        Facts(
            fixture: .everythingOdd, fragment: "a+b/", candidates: ["udp 192.0.2.30:50000", "udp 198.51.100.30:50003"],
            skippedCandidateCount: 11, setup: .active, firstDigestByte: 0x4D, mid: "sound", payloadType: 109,
            usesInbandFEC: true, direction: .sendonly, ssrc: .max, applicationMid: "data"),
        Facts(
            fixture: .gstreamerAnswer, fragment: "Cxw4rLAWJBkh03Xn0t5gOqyeUIPRwHFT",
            candidates: gstreamer([33797, 34149, 47787, 53667, 35681, 53883]), firstDigestByte: 0x4A, payloadType: 96,
            ssrc: 2_554_069_997, maxMessageByteCount: 65_536),
        Facts(
            fixture: .gstreamerOffer, fragment: "Kukz0Y3+uZZiKPMN1kFPtaQ2qnTNgNZX",
            candidates: gstreamer([48660, 60749, 50262, 37951, 54918, 44203]), setup: .active, firstDigestByte: 0x02,
            mid: "audio0", payloadType: 111, usesReducedSizeRTCP: true, ssrc: 2_178_223_500,
            applicationMid: "application1", maxMessageByteCount: 65_536),
        Facts(
            fixture: .janusICELite, isICELite: true, fragment: "YLkm", candidates: ["udp 192.0.2.20:20010"],
            endsCandidates: true, firstDigestByte: 0x4D, payloadType: 111, usesInbandFEC: true, ssrc: 3_037_526_893,
            maxMessageByteCount: 65_536),
        Facts(
            fixture: .openAIDocumentation, fragment: "KYOFLyRb/u1",
            candidates: ["udp 192.0.2.10:3478", "passive 192.0.2.10:443"], firstDigestByte: 0x4D, payloadType: 111,
            maxMessageByteCount: 65_536),
        Facts(
            fixture: .openAIFullICETwoComponents, fragment: "NcElmHQvwyjSXgju",
            candidates: ["udp 192.0.2.10:3478", "passive 192.0.2.10:3478"], skippedCandidateCount: 2,
            endsCandidates: true, firstDigestByte: 0x4D, payloadType: 111, usesReducedSizeRTCP: true,
            ssrc: 2_472_064_402, maxMessageByteCount: 65_536),
        Facts(
            fixture: .openAIICELite, isICELite: true, fragment: "HhITBW/jU/q5GkEI", candidates: relays,
            firstDigestByte: 0x5A, payloadType: 111, usesInbandFEC: true, usesReducedSizeRTCP: true),
        Facts(
            fixture: .openAIICELiteNoFinalNewline, isICELite: true, fragment: "bhlvAR/1U/fjTgED", candidates: relays,
            firstDigestByte: 0x7D, payloadType: 111, usesInbandFEC: true, usesReducedSizeRTCP: true),
        Facts(
            fixture: .openAIICELiteOpus96, isICELite: true, fragment: "YlpVmg/VR/2kA1yS", candidates: relays,
            firstDigestByte: 0xD4, payloadType: 96, usesInbandFEC: true, usesReducedSizeRTCP: true,
            ssrc: 3_815_209_270),
    ]

    @Test func everyFixtureHasItsFacts() {
        #expect(Set(Self.facts.map(\.fixture)) == Set(SDPFixture.allCases))
    }

    @Test(arguments: facts)
    func aRealDescriptionIsReadAsItWasMeant(_ facts: Facts) throws {
        let media = try facts.fixture.description.negotiated(as: facts.fixture.kind)
        #expect(media.isICELite == facts.isICELite)
        #expect(media.credentials.fragment == facts.fragment)
        #expect(media.candidates.map(Self.summary) == facts.candidates)
        #expect(media.skippedCandidateCount == facts.skippedCandidateCount)
        #expect(media.endsCandidates == facts.endsCandidates)
        #expect(media.setup == facts.setup)
        #expect(media.fingerprints.map(\.algorithm) == facts.algorithms)
        #expect(media.fingerprints.first?.digest.first == facts.firstDigestByte)
        #expect(media.mid == facts.mid)
        #expect(media.opus.payloadType == facts.payloadType)
        #expect(media.opus.usesInbandFEC == facts.usesInbandFEC)
        #expect(media.direction == facts.direction)
        #expect(media.usesReducedSizeRTCP == facts.usesReducedSizeRTCP)
        #expect(media.remoteSSRC == facts.ssrc)
        #expect(media.application?.mid == facts.applicationMid)
        #expect(media.application?.maxMessageByteCount == facts.maxMessageByteCount)
    }

    @Test(arguments: SDPFixture.allCases, ["\n", "\r\n", "\r", " \t\r\n", "\n\n"])
    func lineEndsMakeNoDifference(fixture: SDPFixture, lineEnd: String) throws {
        let lines = try fixture.text.split { $0.isNewline }
        let expected = try fixture.description.negotiated(as: fixture.kind)
        for end in ["", lineEnd] {
            let text = lines.joined(separator: lineEnd) + end
            let media = try SessionDescription(parsing: text).negotiated(as: fixture.kind)
            #expect(media.credentials == expected.credentials)
            #expect(media.candidates == expected.candidates)
            #expect(media.fingerprints == expected.fingerprints)
            #expect(media.application == expected.application)
        }
    }

    @Test func oddLinesAreCountedAndPassedOver() throws {
        let description = try SDPFixture.everythingOdd.description
        #expect(description.skippedLineCount == 2)
        #expect(description.isICELite == false)
        let media = try description.negotiated(as: .answer)
        #expect(media.candidates.map(\.priority) == [0x7FFF_FFFF, 1_694_498_815])
        #expect(media.candidates.last?.related == SocketAddress(ip: .v4(0xC000_021E), port: 50_000))
        #expect(media.application?.sctpPort == 5001)
        #expect(media.ptime == .microseconds(20_500))
        #expect(media.maxptime == .milliseconds(120))
    }

    @Test func everySectionIsKeptInItsOrder() throws {
        let description = try SDPFixture.browserOfferWithVideo.description
        #expect(description.sections.map(\.kind) == ["video", "audio", "application", "audio"])
        #expect(description.sections.map(\.port) == [41000, 41001, 41002, 41003])
        #expect(description.sections[0].formats == ["96", "97", "98"])
    }

    private static let unreadable: [(String, SDPError)] = [
        ("", SDPError(.notSDP(.nothing))),
        (" \r\n\r\n", SDPError(.notSDP(.nothing))),
        (#"{"error":"invalid_offer"}"#, SDPError(.notSDP(.json), line: 1)),
        ("\n<html>", SDPError(.notSDP(.markup), line: 2)),
        ("m=audio 9 UDP/TLS/RTP/SAVPF 111", SDPError(.notSDP(.somethingElse), line: 1)),
        ("v=1\r\n", SDPError(.notSDP(.somethingElse), line: 1)),
        ("v=0\r\n\r\nm=audio\r\n", SDPError(.malformedMediaLine(.noPort), line: 3)),
        ("v=0\nm=", SDPError(.malformedMediaLine(.noKind), line: 2)),
        ("v=0\nm=audio 65536 UDP/TLS/RTP/SAVPF 111", SDPError(.malformedMediaLine(.noPort), line: 2)),
        ("v=0\nm=audio 9", SDPError(.malformedMediaLine(.noProtocol), line: 2)),
        ("v=0\nm=audio 9 UDP/TLS/RTP/SAVPF ", SDPError(.malformedMediaLine(.noFormat), line: 2)),
    ]

    @Test(arguments: unreadable)
    func aTextThatCannotBeReadSaysWhereAndWhy(text: String, error: SDPError) {
        #expect(throws: error) { try SessionDescription(parsing: text) }
    }

    @Test func aTextThatIsTooMuchSaysWhereAndWhy() {
        func error(_ texts: (String, Int)...) -> SDPError? {
            let text = "v=0\n" + texts.map { String(repeating: $0, count: $1) }.joined()
            do {
                _ = try SessionDescription(parsing: text)
                return nil
            } catch {
                return error
            }
        }
        #expect(error(("m=audio 9 RTP/SAVPF ", 1), ("1 ", 2_100)) == SDPError(.malformedMediaLine(.tooLong), line: 2))
        #expect(error(("m=audio 0 RTP/SAVPF 0\n", 65)) == SDPError(.tooManySections, line: 66))
        #expect(error(("\n", 8_300), ("a=x", 1)) == SDPError(.tooManyLines, line: 8_193))
        #expect(error(("a", 262_144)) == SDPError(.tooLarge))
    }

    @Test func aLineThatIsTooLongIsPassedOver() throws {
        let identity = "a=identity:" + String(repeating: "A", count: 5_000)
        let text = (smallestAnswer + [identity]).joined(separator: "\r\n")
        let description = try SessionDescription(parsing: text)
        #expect(description.skippedLineCount == 1)
        #expect(throws: Never.self) { try description.negotiated(as: .answer) }
    }

    @Test func candidatesPastTheLimitAreCounted() throws {
        let candidates = (1...100).map { "a=candidate:\($0) 1 udp \($0) 192.0.2.1 \(1_000 + $0) typ host" }
        let media = try SessionDescription(parsing: (smallestAnswer + candidates).joined(separator: "\n"))
            .negotiated(as: .answer)
        #expect(media.candidates.count == 64)
        #expect(media.skippedCandidateCount == 36)
    }

    private static func summary(_ candidate: Candidate) -> String {
        switch candidate.transport {
        case .udp: "udp \(candidate.address)"
        case .tcp(let type): "\(type.rawValue) \(candidate.address)"
        }
    }
}
