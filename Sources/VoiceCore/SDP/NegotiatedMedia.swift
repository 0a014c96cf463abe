/// All that the engine needs to know from the other side's description, once both have spoken.
struct NegotiatedMedia: Sendable {
    /// The other side never sends checks.
    var isICELite: Bool
    /// The other side's.
    var credentials: ICECredentials
    /// The other side's, component 1, UDP and TCP; none is allowed, it is then learned from its checks.
    var candidates: [Candidate]
    /// Candidates that were passed over: names, other components, malformed ones.
    var skippedCandidateCount: Int
    /// No more will come.
    var endsCandidates: Bool
    /// Our part in DTLS: `.active` opens the handshake as its client, `.passive` awaits it as its server; never `.actpass`.
    var setup: SetupRole
    /// Hashes of the other side's certificate, one at least; it must match one of them.
    var fingerprints: [Fingerprint]
    /// The audio section's place among the m= sections and its name.
    var audioIndex: Int
    var mid: String?
    var opus: OpusFormat
    /// How long the packets that it likes to receive are, and the longest it takes.
    var ptime: Duration?
    var maxptime: Duration?
    /// What is left for us to do: `.sendonly` where the other side only receives.
    var direction: MediaDirection
    var usesReducedSizeRTCP: Bool
    /// What its audio comes under, where it was told.
    var remoteSSRC: UInt32?
    /// The data channels' section on the same transport; nil where there is none.
    var applicationIndex: Int?
    var application: ApplicationDescription?
}

/// Which of the two descriptions of a session one is (RFC 3264).
enum DescriptionKind: Sendable {
    case offer
    case answer
}

extension SessionDescription {
    /// What a voice is made from.
    /// - Parameter kind: whether this is the other side's answer to our offer, or its offer, which we answer.
    /// - Throws: the first thing that is missing for a voice, from `noAudio` to `unusableSetup`.
    func negotiated(as kind: DescriptionKind) throws(SDPError) -> NegotiatedMedia {
        let (audioIndex, opus) = try audioWithOpus()
        let audio = sections[audioIndex]
        let sources = transportSources(of: audio, as: kind)
        guard sources.contains(where: { $0.usesRTCPMux }) else { throw SDPError(.noRTCPMux, line: audio.line) }
        let direction = (audio.attributes.direction ?? session.direction ?? .sendrecv).reversed
        guard direction != .inactive else { throw SDPError(.audioInactive, line: audio.line) }
        let credentials = try Self.credentials(in: sources, of: audio)
        let applicationIndex = applicationIndex(beside: audio, fragment: credentials.fragment, as: kind)
        let withCandidates = sources.first { !$0.candidates.isEmpty }

        return NegotiatedMedia(
            isICELite: isICELite,
            credentials: credentials,
            candidates: withCandidates?.candidates ?? [],
            skippedCandidateCount: skippedCandidateCount,
            endsCandidates: sources.contains { $0.endsCandidates },
            setup: try Self.setup(in: sources, as: kind),
            fingerprints: try Self.fingerprints(in: sources, of: audio),
            audioIndex: audioIndex,
            mid: audio.attributes.mid,
            opus: opus,
            ptime: audio.attributes.ptime ?? session.ptime,
            maxptime: audio.attributes.maxptime ?? session.maxptime,
            direction: direction,
            usesReducedSizeRTCP: audio.attributes.usesReducedSizeRTCP || session.usesReducedSizeRTCP,
            remoteSSRC: audio.attributes.ssrc,
            applicationIndex: applicationIndex,
            application: applicationIndex.flatMap { sections[$0].application })
    }

    /// The first audio section with Opus that is not refused.
    private func audioWithOpus() throws(SDPError) -> (index: Int, opus: OpusFormat) {
        var problem = SDPError(.noAudio)
        for (index, section) in sections.enumerated() where section.kind == "audio" {
            if section.isRefused {
                if problem.problem == .noAudio { problem = SDPError(.audioRefused, line: section.line) }
            } else if section.isAudio, let opus = section.opus {
                return (index, opus)
            } else if problem.problem != .noOpus {
                problem = SDPError(.noOpus, line: section.line)
            }
        }
        throw problem
    }

    /// Where the transport of `audio` may be described, the best first: the section that speaks for the BUNDLE group, the session, the
    /// section itself, the group's others. Never a mixture: other sections may list candidates of transports that BUNDLE does away with.
    ///
    /// The group's speaker is its first section that is not refused (RFC 8843 7.3): of an offer, that we do not refuse.
    private func transportSources(of audio: MediaDescription, as kind: DescriptionKind) -> [SDPAttributes] {
        let mids = bundle(of: audio) ?? []
        let group = mids.compactMap { mid in sections.first { $0.attributes.mid == mid && !$0.isRefused } }
        let speaker = group.first { section in
            switch kind {
            case .answer: true
            case .offer: section.line == audio.line || section.application != nil
            }
        }
        return [(speaker ?? audio).attributes, session, audio.attributes] + group.map(\.attributes)
    }

    private func bundle(of section: MediaDescription) -> [String]? {
        guard let mid = section.attributes.mid else { return nil }
        return session.bundles.first { $0.contains(mid) }
    }

    /// The first data channel section that uses the audio's transport.
    ///
    /// An answer without a BUNDLE group counts as bundled where the ICE user name is the same: old peers write no group but mean it.
    private func applicationIndex(beside audio: MediaDescription, fragment: String, as kind: DescriptionKind) -> Int? {
        let mids = bundle(of: audio) ?? []
        return sections.firstIndex { section in
            guard !section.isRefused, section.application != nil else { return false }
            if let mid = section.attributes.mid, mids.contains(mid) { return true }
            switch kind {
            case .offer: return false
            case .answer: return section.attributes.fragment == fragment
            }
        }
    }

    private static func credentials(
        in sources: [SDPAttributes], of audio: MediaDescription
    ) throws(SDPError) -> ICECredentials {
        if let source = sources.first(where: { $0.fragment != nil && $0.password != nil }),
            let fragment = source.fragment, let password = source.password
        {
            return ICECredentials(fragment: fragment, password: password)
        }
        if let line = sources.lazy.compactMap(\.malformedCredentialLine).first {
            throw SDPError(.malformedICECredentials, line: line)
        }
        guard let fragment = sources.lazy.compactMap(\.fragment).first,
            let password = sources.lazy.compactMap(\.password).first
        else { throw SDPError(.noICECredentials, line: audio.line) }
        return ICECredentials(fragment: fragment, password: password)
    }

    private static func fingerprints(
        in sources: [SDPAttributes], of audio: MediaDescription
    ) throws(SDPError) -> [Fingerprint] {
        if let source = sources.first(where: { !$0.fingerprints.isEmpty }) { return source.fingerprints }
        if let line = sources.lazy.compactMap(\.malformedFingerprintLine).first {
            throw SDPError(.malformedFingerprint, line: line)
        }
        if let line = sources.lazy.compactMap(\.weakFingerprintLine).first {
            throw SDPError(.weakFingerprint, line: line)
        }
        throw SDPError(.noFingerprint, line: audio.line)
    }

    /// Our part, from what the other side says (RFC 8842 5). Where it says nothing, an answer is taken to be active as libwebrtc does,
    /// and to an offer we are active, which fits every part that it may take.
    private static func setup(in sources: [SDPAttributes], as kind: DescriptionKind) throws(SDPError) -> SetupRole {
        let source = sources.first { $0.setup != nil } ?? sources.first { $0.setupLine != nil }
        switch (kind, source?.setup) {
        case (_, .active): return .passive
        case (_, .passive), (.offer, .actpass): return .active
        case (.answer, nil) where source == nil: return .passive
        case (.offer, nil) where source == nil: return .active
        case (_, nil), (.answer, .actpass): throw SDPError(.unusableSetup, line: source?.setupLine)
        }
    }
}
