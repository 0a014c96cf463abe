import Testing

@testable import Support
@testable import VoiceCore

@Suite struct LocalDescriptionTests {
    private func local(_ seed: UInt64, candidates: [Candidate] = Self.candidates) -> LocalDescription {
        var entropy = Entropy.seeded(seed)
        return LocalDescription(
            credentials: ICECredentials(from: &entropy),
            fingerprint: Fingerprint(algorithm: .sha256, digest: entropy.bytes(32)), candidates: candidates,
            ssrc: UInt32(truncatingIfNeeded: entropy.next()), cname: "cname\(seed)", entropy: &entropy)
    }

    private static let candidates = [
        Candidate(
            foundation: "1", transport: .udp, priority: Candidate.priority(.host, localPreference: 65_535),
            address: SocketAddress(ip: .v4(0xC000_0201), port: 50_000), kind: .host),
        Candidate(
            foundation: "2", transport: .udp, priority: Candidate.priority(.host, localPreference: 65_534),
            address: SocketAddress(ip: .v6(high: 0x2001_0DB8 << 32, low: 1), port: 50_001), kind: .host),
    ]

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func anOfferHasTheseLines() {
        let digest = (0..<32).map { UInt8($0 * 8) }
        var entropy = Entropy { .max }
        let offer = LocalDescription(
            credentials: ICECredentials(fragment: "k7Qz", password: "q3mB0uE5cVn8RkW1yTfLsA2d"),
            fingerprint: Fingerprint(algorithm: .sha256, digest: digest), candidates: Self.candidates,
            ssrc: 305_419_896, cname: "post", entropy: &entropy
        ).offer()
        let hash =
            "00:08:10:18:20:28:30:38:40:48:50:58:60:68:70:78:80:88:90:98:A0:A8:B0:B8:C0:C8:D0:D8:E0:E8:F0:F8"
        #expect(
            lines(offer) == [
                "v=0",
                "o=- 9223372036854775807 2 IN IP4 0.0.0.0",
                "s=-",
                "t=0 0",
                "a=group:BUNDLE 0 1",
                "a=extmap-allow-mixed",
                "a=msid-semantic:WMS *",
                "a=ice-options:ice2",
                "m=audio 9 UDP/TLS/RTP/SAVPF 111",
                "c=IN IP4 0.0.0.0",
                "a=ice-ufrag:k7Qz",
                "a=ice-pwd:q3mB0uE5cVn8RkW1yTfLsA2d",
                "a=fingerprint:sha-256 \(hash)",
                "a=setup:actpass",
                "a=mid:0",
                "a=rtcp:9 IN IP4 0.0.0.0",
                "a=sendrecv",
                "a=msid:talkpost microphone",
                "a=rtcp-mux",
                "a=rtcp-rsize",
                "a=rtpmap:111 opus/48000/2",
                "a=fmtp:111 minptime=10;useinbandfec=1",
                "a=ptime:20",
                "a=maxptime:60",
                "a=ssrc:305419896 cname:post",
                "a=ssrc:305419896 msid:talkpost microphone",
                "a=candidate:1 1 udp 2130706431 192.0.2.1 50000 typ host",
                "a=candidate:2 1 udp 2130706175 2001:db8::1 50001 typ host",
                "a=end-of-candidates",
                "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
                "c=IN IP4 0.0.0.0",
                "a=ice-ufrag:k7Qz",
                "a=ice-pwd:q3mB0uE5cVn8RkW1yTfLsA2d",
                "a=fingerprint:sha-256 \(hash)",
                "a=setup:actpass",
                "a=mid:1",
                "a=sctp-port:5000",
                "a=max-message-size:262144",
                "",
            ])
    }

    @Test func anOfferAndItsAnswerAreUnderstoodByBothSides() throws {
        let offerer = local(1)
        let answerer = local(2)
        let offer = try SessionDescription(parsing: offerer.offer())
        let answer = try SessionDescription(parsing: answerer.answer(to: offer))
        let atAnswerer = try offer.negotiated(as: .offer)
        let atOfferer = try answer.negotiated(as: .answer)

        for (media, other) in [(atAnswerer, offerer), (atOfferer, answerer)] {
            #expect(media.credentials == other.credentials)
            #expect(media.candidates == other.candidates)
            #expect(media.endsCandidates)
            #expect(media.fingerprints == [other.fingerprint])
            #expect(media.remoteSSRC == other.ssrc)
            #expect(media.opus.payloadType == 111)
            #expect(media.opus.usesInbandFEC)
            #expect(media.ptime == .milliseconds(20))
            #expect(media.maxptime == .milliseconds(60))
            #expect(media.direction == .sendrecv)
            #expect(media.usesReducedSizeRTCP)
            #expect(media.application?.sctpPort == 5000)
            #expect(media.application?.maxMessageByteCount == 262_144)
            #expect(media.isICELite == false)
        }
        #expect(atAnswerer.setup == .active)
        #expect(atOfferer.setup == .passive)
        #expect(offer.skippedLineCount + answer.skippedLineCount == 0)
    }

    @Test(arguments: SDPFixture.offers)
    func everySectionOfARealOfferIsAnswered(fixture: SDPFixture) throws {
        let offer = try fixture.description
        let media = try offer.negotiated(as: .offer)
        let text = try local(3).answer(to: offer)
        let answer = try SessionDescription(parsing: text)
        #expect(answer.sections.map(\.kind) == offer.sections.map(\.kind))
        #expect(answer.sections.map(\.protocolName) == offer.sections.map(\.protocolName))
        #expect(answer.sections.map(\.attributes.mid) == offer.sections.map(\.attributes.mid))
        let accepted = answer.sections.indices.filter { answer.sections[$0].port != 0 }
        #expect(accepted == [media.audioIndex, media.applicationIndex].compactMap { $0 })
        #expect(answer.session.bundles == [accepted.compactMap { answer.sections[$0].attributes.mid }])

        let back = try answer.negotiated(as: .answer)
        #expect(back.opus.payloadType == media.opus.payloadType)
        #expect(back.direction == media.direction.reversed)
        #expect(back.candidates == Self.candidates)
        #expect(back.setup != media.setup)
        #expect(back.usesReducedSizeRTCP == media.usesReducedSizeRTCP)
        #expect(back.application != nil)
    }

    @Test func videoIsRefusedWithItsOwnFormats() throws {
        let text = try local(4).answer(to: SDPFixture.browserOfferWithVideo.description)
        let media = lines(text).filter { $0.hasPrefix("m=") }
        #expect(
            media == [
                "m=video 0 UDP/TLS/RTP/SAVPF 96 97 98", "m=audio 9 UDP/TLS/RTP/SAVPF 111",
                "m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "m=audio 0 UDP/TLS/RTP/SAVPF 111",
            ])
        #expect(lines(text).contains("a=group:BUNDLE audio1 data2"))
        #expect(lines(text).contains("a=recvonly"))
    }

    @Test func oldDataChannelsAreAnsweredInTheirOwnForm() throws {
        let old = [
            "m=application 9 DTLS/SCTP 5000", "a=mid:d", "a=sctpmap:5000 webrtc-datachannel 1024",
        ]
        let offer = smallestAnswer.map { $0.hasPrefix("a=setup") ? "a=setup:passive" : $0 } + ["a=mid:a"] + old
        let text = try SessionDescription(
            parsing: (["v=0", "a=group:BUNDLE a d"] + offer[1...]).joined(separator: "\n"))
        let answer = try local(5).answer(to: text)
        #expect(lines(answer).contains("m=application 9 DTLS/SCTP 5000"))
        #expect(lines(answer).contains("a=sctpmap:5000 webrtc-datachannel 65535"))
        #expect(lines(answer).contains { $0.hasPrefix("a=sctp-port") } == false)
    }

    @Test func anOfferWithoutABundleIsAnsweredForAudioAlone() throws {
        let offer = smallestAnswer + ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel"]
        let answer = try local(6).answer(to: SessionDescription(parsing: offer.joined(separator: "\n")))
        #expect(answer.contains("a=group") == false)
        #expect(answer.contains("m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\n"))
        #expect(try SessionDescription(parsing: answer).negotiated(as: .answer).candidates == Self.candidates)
    }

    @Test func anOfferThatCannotServeIsNotAnswered() throws {
        let offer = try SessionDescription(parsing: "v=0\nm=video 9 UDP/TLS/RTP/SAVPF 96")
        #expect(throws: SDPError(.noAudio)) { try local(7).answer(to: offer) }
    }

    @Test func sessionNumbersDifferAndFitInto63Bits() {
        let numbers = (1...50).map { local($0).sessionID }
        #expect(Set(numbers).count == 50)
        #expect(numbers.allSatisfy { $0 >> 63 == 0 })
    }
}
