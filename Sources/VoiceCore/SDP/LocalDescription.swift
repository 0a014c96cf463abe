/// What we say about ourselves, and the SDP that says it: an offer, or the answer to one. Lines end with CR LF.
///
/// A value of the engine's. It is written once per voice; the candidates in it are all there will be (no trickle).
struct LocalDescription: Sendable {
    /// RFC 8829 5.2.1: a random 63-bit number.
    var sessionID: UInt64
    var credentials: ICECredentials
    /// Of our DTLS certificate.
    var fingerprint: Fingerprint
    /// Ours, as ICE has them.
    var candidates: [Candidate]
    /// Whether an offer has a section for data channels.
    var offersChannels = true
    /// Of the RTP stream that we send.
    var ssrc: UInt32
    /// Of the RTCP that we send (RFC 7022).
    var cname: String

    /// The payload type that we offer Opus under; an answer decides its own.
    static let offeredPayloadType: UInt8 = 111

    private static let mediaStream = "talkpost microphone"

    init(
        credentials: ICECredentials, fingerprint: Fingerprint, candidates: [Candidate], ssrc: UInt32, cname: String,
        entropy: inout Entropy
    ) {
        sessionID = entropy.next() >> 1
        self.credentials = credentials
        self.fingerprint = fingerprint
        self.candidates = candidates
        self.ssrc = ssrc
        self.cname = cname
    }

    /// Audio both ways, and data channels on the same transport.
    func offer() -> String {
        var lines = sessionLines(bundle: offersChannels ? ["0", "1"] : ["0"])
        lines.append("m=audio 9 UDP/TLS/RTP/SAVPF \(Self.offeredPayloadType)")
        lines += transportLines(setup: .actpass, mid: "0")
        lines += audioLines(payloadType: Self.offeredPayloadType, direction: .sendrecv, usesReducedSizeRTCP: true)
        lines += candidateLines()
        guard offersChannels else { return Self.text(lines) }
        lines.append("m=application 9 UDP/DTLS/SCTP webrtc-datachannel")
        lines += transportLines(setup: .actpass, mid: "1")
        lines += applicationLines()
        return Self.text(lines)
    }

    /// The answer to `offer`: each of its sections in its order, those that are of no use to a voice refused with port 0.
    /// - Throws: what `SessionDescription.negotiated(as: .offer)` throws; there is nothing to answer then.
    func answer(to offer: SessionDescription) throws(SDPError) -> String {
        let media = try offer.negotiated(as: .offer)
        let accepted = Set([media.audioIndex, media.applicationIndex].compactMap { $0 })
        let bundle = offer.answeredBundle(accepted: accepted)
        let candidateIndex =
            bundle.first.flatMap { mid in
                offer.sections.indices.first { accepted.contains($0) && offer.sections[$0].attributes.mid == mid }
            } ?? media.audioIndex

        var lines = sessionLines(bundle: bundle)
        for (index, section) in offer.sections.enumerated() {
            guard accepted.contains(index) else {
                lines += Self.refusal(of: section)
                continue
            }
            let isAudio = index == media.audioIndex
            let format = isAudio ? "\(media.opus.payloadType)" : section.formats[0]
            lines.append("m=\(section.kind) 9 \(section.protocolName) \(format)")
            lines += transportLines(setup: media.setup, mid: section.attributes.mid)
            if isAudio {
                lines += audioLines(
                    payloadType: media.opus.payloadType, direction: media.direction,
                    usesReducedSizeRTCP: media.usesReducedSizeRTCP)
            } else {
                lines += applicationLines(answering: section)
            }
            if index == candidateIndex { lines += candidateLines() }
        }
        return Self.text(lines)
    }

    private func sessionLines(bundle: [String]) -> [String] {
        var lines = ["v=0", "o=- \(sessionID) 2 IN IP4 0.0.0.0", "s=-", "t=0 0"]
        if !bundle.isEmpty { lines.append("a=group:BUNDLE \(bundle.joined(separator: " "))") }
        return lines + ["a=extmap-allow-mixed", "a=msid-semantic:WMS *", "a=ice-options:ice2"]
    }

    private func transportLines(setup: SetupRole, mid: String?) -> [String] {
        var lines = [
            "c=IN IP4 0.0.0.0",
            "a=ice-ufrag:\(credentials.fragment)",
            "a=ice-pwd:\(credentials.password)",
            "a=fingerprint:\(fingerprint.sdp)",
            "a=setup:\(setup.rawValue)",
        ]
        if let mid { lines.append("a=mid:\(mid)") }
        return lines
    }

    private func audioLines(payloadType: UInt8, direction: MediaDirection, usesReducedSizeRTCP: Bool) -> [String] {
        var lines = [
            "a=rtcp:9 IN IP4 0.0.0.0",
            "a=\(direction.rawValue)",
            "a=msid:\(Self.mediaStream)",
            "a=rtcp-mux",
        ]
        if usesReducedSizeRTCP { lines.append("a=rtcp-rsize") }
        return lines + [
            "a=rtpmap:\(payloadType) opus/48000/2",
            "a=fmtp:\(payloadType) minptime=10;useinbandfec=1",
            "a=ptime:20",
            "a=maxptime:60",
            "a=ssrc:\(ssrc) cname:\(cname)",
            "a=ssrc:\(ssrc) msid:\(Self.mediaStream)",
        ]
    }

    private func candidateLines() -> [String] {
        candidates.map { "a=candidate:\($0.sdp)" } + ["a=end-of-candidates"]
    }

    /// In the form that the offer has: RFC 8841, or the one before it, whose m= line ends with the SCTP port.
    private func applicationLines(answering offer: MediaDescription? = nil) -> [String] {
        let size = "a=max-message-size:\(ApplicationDescription.maxMessageByteCount)"
        if let port = offer?.formats.first.flatMap({ UInt16($0) }) {
            return ["a=sctpmap:\(port) webrtc-datachannel 65535", size]
        }
        return ["a=sctp-port:\(ApplicationDescription.defaultPort)", size]
    }

    /// RFC 3264 6: the same kind, protocol and formats, and port 0.
    private static func refusal(of section: MediaDescription) -> [String] {
        var lines = [
            "m=\(section.kind) 0 \(section.protocolName) \(section.formats.joined(separator: " "))", "c=IN IP4 0.0.0.0",
        ]
        if let mid = section.attributes.mid { lines.append("a=mid:\(mid)") }
        return lines + ["a=inactive"]
    }

    private static func text(_ lines: [String]) -> String {
        lines.map { $0 + "\r\n" }.joined()
    }
}

extension SessionDescription {
    /// The mids of the accepted sections in the order of the offer's BUNDLE group; none where the audio is in no group.
    fileprivate func answeredBundle(accepted: Set<Int>) -> [String] {
        let mids = Set(accepted.compactMap { sections[$0].attributes.mid })
        return (session.bundles.first { !mids.isDisjoint(with: $0) } ?? []).filter { mids.contains($0) }
    }
}
