import Testing

@testable import VoiceCore

@Suite struct NegotiatedMediaTests {
    /// One change to `smallestAnswer` and what it leads to.
    struct Spoilt: Sendable, CustomTestStringConvertible {
        var replaced: String
        var by: [String]
        var problem: SDPError.Problem
        var line: Int?

        var testDescription: String { "\(replaced) -> \(by)" }
    }

    private func media(_ lines: [String], as kind: DescriptionKind = .answer) throws -> NegotiatedMedia {
        try SessionDescription(parsing: lines.joined(separator: "\r\n")).negotiated(as: kind)
    }

    /// `smallestAnswer` with the line that begins with `prefix` replaced by `others`.
    private func answer(_ prefix: String, replacedBy others: [String]) throws -> [String] {
        let index = try #require(smallestAnswer.firstIndex { $0.hasPrefix(prefix) })
        return Array(smallestAnswer[..<index]) + others + Array(smallestAnswer[(index + 1)...])
    }

    @Test func theSmallestAnswerServes() throws {
        let media = try media(smallestAnswer)
        #expect(media.candidates.isEmpty)
        #expect(media.application == nil)
        #expect(media.mid == nil)
        #expect(media.opus == OpusFormat(payloadType: 96))
    }

    @Test(arguments: [
        Spoilt(replaced: "m=", by: ["m=video 9 UDP/TLS/RTP/SAVPF 96"], problem: .noAudio),
        Spoilt(replaced: "m=", by: ["m=audio 0 UDP/TLS/RTP/SAVPF 96"], problem: .audioRefused, line: 5),
        Spoilt(replaced: "m=", by: ["m=audio 9 UDP/TLS/RTP/SAVPF 0"], problem: .noOpus, line: 5),
        Spoilt(replaced: "m=", by: ["m=audio 9 TCP/MSRP 96"], problem: .noOpus, line: 5),
        Spoilt(replaced: "a=rtpmap", by: ["a=rtpmap:96 PCMU/8000"], problem: .noOpus, line: 5),
        Spoilt(replaced: "a=rtpmap", by: ["a=rtpmap:96 opus/48000/6"], problem: .noOpus, line: 5),
        Spoilt(replaced: "a=rtpmap", by: [], problem: .noOpus, line: 5),
        Spoilt(replaced: "a=rtcp-mux", by: [], problem: .noRTCPMux, line: 5),
        Spoilt(replaced: "a=rtcp-mux", by: ["a=rtcp-mux", "a=inactive"], problem: .audioInactive, line: 5),
        Spoilt(replaced: "a=ice-ufrag", by: [], problem: .noICECredentials, line: 5),
        Spoilt(replaced: "a=ice-pwd", by: [], problem: .noICECredentials, line: 5),
        Spoilt(replaced: "a=ice-ufrag", by: ["a=ice-ufrag:abc"], problem: .malformedICECredentials, line: 8),
        Spoilt(
            replaced: "a=ice-ufrag", by: ["a=ice-ufrag:" + String(repeating: "a", count: 257)],
            problem: .malformedICECredentials, line: 8),
        Spoilt(replaced: "a=ice-ufrag", by: ["a=ice-ufrag:abcd efgh"], problem: .malformedICECredentials, line: 8),
        Spoilt(replaced: "a=ice-pwd", by: ["a=ice-pwd:short"], problem: .malformedICECredentials, line: 9),
        Spoilt(replaced: "a=fingerprint", by: [], problem: .noFingerprint, line: 5),
        Spoilt(
            replaced: "a=fingerprint",
            by: ["a=fingerprint:sha-1 " + Array(repeating: "AB", count: 20).joined(separator: ":")],
            problem: .weakFingerprint, line: 10),
        Spoilt(
            replaced: "a=fingerprint", by: ["a=fingerprint:sha-256 AB:CD"], problem: .malformedFingerprint, line: 10),
        Spoilt(replaced: "a=setup", by: ["a=setup:actpass"], problem: .unusableSetup, line: 11),
        Spoilt(replaced: "a=setup", by: ["a=setup:holdconn"], problem: .unusableSetup, line: 11),
    ])
    func anAnswerThatCannotServeSaysWhatIsMissing(_ spoilt: Spoilt) throws {
        let lines = try answer(spoilt.replaced, replacedBy: spoilt.by)
        #expect(throws: SDPError(spoilt.problem, line: spoilt.line)) { try media(lines) }
    }

    private static let setups: [(DescriptionKind, String?, SetupRole)] = [
        (DescriptionKind.answer, "active", SetupRole.passive), (.answer, "passive", .active), (.answer, nil, .passive),
        (.offer, "active", .passive), (.offer, "passive", .active), (.offer, "actpass", .active),
        (.offer, nil, .active),
    ]

    @Test(arguments: setups)
    func whoOpensDTLSFollowsFromSetup(kind: DescriptionKind, said: String?, ours: SetupRole) throws {
        let lines = try answer("a=setup", replacedBy: said.map { ["a=setup:\($0)"] } ?? [])
        #expect(try media(lines, as: kind).setup == ours)
    }

    @Test func aSecondAudioSectionServesWhereTheFirstCannot() throws {
        let refused = ["m=audio 0 UDP/TLS/RTP/SAVPF 96", "a=rtpmap:96 opus/48000/2", "m=audio 9 UDP/TLS/RTP/SAVPF 0"]
        let media = try media(Array(smallestAnswer[..<4]) + refused + Array(smallestAnswer[4...]))
        #expect(media.audioIndex == 2)
    }

    @Test func payloadTypesThatLookLikeRTCPAreNotTaken() throws {
        var lines = try answer("m=", replacedBy: ["m=audio 9 UDP/TLS/RTP/SAVPF 72 300 127"])
        lines += ["a=rtpmap:72 opus/48000/2", "a=rtpmap:300 opus/48000/2", "a=rtpmap:127 opus/48000"]
        #expect(try media(lines).opus.payloadType == 127)
    }

    @Test func transportIsInheritedFromTheSectionThatSpeaksForTheBundle() throws {
        let lines = [
            "v=0", "a=group:BUNDLE d a", "m=audio 9 UDP/TLS/RTP/SAVPF 96", "a=mid:a", "a=rtpmap:96 opus/48000/2",
            "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:d",
            "a=candidate:1 1 udp 1 192.0.2.1 5000 typ host",
        ]
        let media = try media(lines + smallestAnswer.filter { $0.hasPrefix("a=") && !$0.hasPrefix("a=rtpmap") })
        #expect(media.credentials.fragment == "abcd")
        #expect(media.candidates.count == 1)
        #expect(media.applicationIndex == 1)
    }

    @Test func aRefusedSectionSpeaksForNobody() throws {
        let lines = [
            "v=0", "a=group:BUNDLE d a", "m=application 0 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:d",
            "a=ice-ufrag:wrong", "a=ice-pwd:wrongwrongwrongwrongwrong", "a=candidate:1 1 udp 1 192.0.2.1 5000 typ host",
        ]
        let media = try media(lines + smallestAnswer[4...] + ["a=mid:a"])
        #expect(media.credentials.fragment == "abcd")
        #expect(media.candidates.isEmpty)
        #expect(media.application == nil)
    }

    @Test(arguments: [(DescriptionKind.answer, "abcd", true), (.answer, "other", false), (.offer, "abcd", false)])
    func aDataChannelOutsideTheBundleIsTakenOnlyFromAnAnswerOnTheSameTransport(
        kind: DescriptionKind, fragment: String, isTaken: Bool
    ) throws {
        let lines =
            smallestAnswer + [
                "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=mid:1", "a=ice-ufrag:\(fragment)",
            ]
        #expect(try (media(lines, as: kind).application != nil) == isTaken)
    }

    private static let dataChannels: [([String], UInt16, Int)] = [
        (["m=application 9 UDP/DTLS/SCTP webrtc-datachannel"], 5000, 65_536),
        (["m=application 9 DTLS/SCTP 5000", "a=sctpmap:5000 webrtc-datachannel 65535"], 5000, 65_536),
        (["m=application 9 DTLS/SCTP 6000"], 6000, 65_536),
        (
            ["m=application 9 TCP/DTLS/SCTP webrtc-datachannel", "a=sctp-port:7000", "a=max-message-size:0"], 7000,
            262_144
        ),
        (["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=max-message-size:1073741823"], 5000, 262_144),
        (["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=max-message-size:1200"], 5000, 1200),
        (
            ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "a=max-message-size:99999999999999999999"], 5000,
            262_144
        ),
    ]

    @Test(arguments: dataChannels)
    func dataChannelsAreReadInBothForms(lines: [String], port: UInt16, size: Int) throws {
        let application = try #require(try media(smallestAnswer + lines + ["a=ice-ufrag:abcd"]).application)
        #expect(application.mid == nil)
        #expect(application.sctpPort == port)
        // In the old form one number stands for both ends, in the new each has its own.
        #expect(application.answeredPort == (lines[0].hasSuffix("6000") ? 6000 : 5000))
        #expect(application.maxMessageByteCount == size)
    }

    @Test(arguments: [
        SDPError(.audioRefused, line: 7), SDPError(.noAudio), SDPError(.notSDP(.json), line: 1),
        SDPError(.malformedMediaLine(.noPort), line: 3),
    ])
    func anErrorNamesItsLineAndACure(error: SDPError) {
        let text = error.description
        #expect(text.hasPrefix(error.line.map { "SDP line \($0): " } ?? "SDP: "))
        #expect(text.hasSuffix("."))
        #expect(text.contains(";") || text.contains(","))
    }
}
