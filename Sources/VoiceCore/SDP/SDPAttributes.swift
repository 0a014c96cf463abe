/// What the a= lines of one m= section say, or those above the first m= line.
///
/// Only what a voice needs is kept; all else is passed over, so that new attributes do no harm. Where an attribute is said twice and
/// means one thing, the first stands.
struct SDPAttributes: Sendable {
    var mid: String?
    /// BUNDLE groups, each a list of mids; at session level only (RFC 8843).
    var bundles: [[String]] = []
    var isICELite = false
    var fragment: String?
    var password: String?
    var candidates: [Candidate] = []
    var skippedCandidateCount = 0
    var endsCandidates = false
    var setup: SetupRole?
    /// Where a=setup stands, readable or not.
    var setupLine: Int?
    var fingerprints: [Fingerprint] = []
    var direction: MediaDirection?
    var isBundleOnly = false
    var usesRTCPMux = false
    var usesReducedSizeRTCP = false
    var ptime: Duration?
    var maxptime: Duration?
    /// The first a=ssrc whose number is one; some peers write 64 bits.
    var ssrc: UInt32?
    /// Payload types that a=rtpmap gives to Opus.
    var opusPayloadTypes: Set<UInt8> = []
    /// a=fmtp by payload type.
    var formatParameters: [UInt8: SDPText] = [:]
    var sctpPort: UInt16?
    var maxMessageSize: UInt64?

    /// Lines that were meant to say something needed and could not be read: the first of each sort, for the error.
    var malformedCredentialLine: Int?
    var malformedFingerprintLine: Int?
    var weakFingerprintLine: Int?

    private enum Limit {
        static let candidates = 64
        static let fingerprints = 16
        static let bundles = 8
    }

    /// Takes one a= line.
    /// - Parameter text: what follows `a=`.
    mutating func read(_ text: SDPText, line: Int) {
        var value = text
        let name = value.field(before: UInt8(ascii: ":"))
        switch name.string {
        case "mid": mid = mid ?? (value.isVisibleASCII ? value.string : nil)
        case "group": readGroup(value)
        case "ice-lite": isICELite = true
        case "ice-ufrag": fragment = fragment ?? credential(value, minimumLength: 4, line: line)
        case "ice-pwd": password = password ?? credential(value, minimumLength: 22, line: line)
        case "candidate": readCandidate(value)
        case "end-of-candidates": endsCandidates = true
        case "setup": readSetup(value, line: line)
        case "fingerprint": readFingerprint(value, line: line)
        case "bundle-only": isBundleOnly = true
        case "rtcp-mux", "rtcp-mux-only": usesRTCPMux = true
        case "rtcp-rsize": usesReducedSizeRTCP = true
        case "ptime": ptime = ptime ?? Duration(sdpMilliseconds: value)
        case "maxptime": maxptime = maxptime ?? Duration(sdpMilliseconds: value)
        case "ssrc": ssrc = ssrc ?? value.word()?.number(as: UInt32.self)
        case "rtpmap": readPayloadMap(value)
        case "fmtp": readFormatParameters(value)
        case "sctp-port": sctpPort = sctpPort ?? value.number(as: UInt16.self)
        case "sctpmap": sctpPort = sctpPort ?? value.word()?.number(as: UInt16.self)
        case "max-message-size": maxMessageSize = maxMessageSize ?? value.number
        default: direction = direction ?? MediaDirection(rawValue: name.string)
        }
    }

    private mutating func readGroup(_ value: SDPText) {
        var value = value
        guard bundles.count < Limit.bundles, value.word()?.string.uppercased() == "BUNDLE" else { return }
        var mids: [String] = []
        while let mid = value.word() { mids.append(mid.string) }
        bundles.append(mids)
    }

    /// The credential, or nil where it is too short, too long (RFC 8839 5.4) or not of visible characters. Other than ice-chars are
    /// taken, since the peer alone compares them.
    private mutating func credential(_ value: SDPText, minimumLength: Int, line: Int) -> String? {
        guard value.isVisibleASCII, (minimumLength...256).contains(value.byteCount) else {
            malformedCredentialLine = malformedCredentialLine ?? line
            return nil
        }
        return value.string
    }

    private mutating func readCandidate(_ value: SDPText) {
        guard candidates.count < Limit.candidates, let candidate = Candidate(sdp: value),
            !candidates.contains(where: { $0.address == candidate.address && $0.transport == candidate.transport })
        else {
            skippedCandidateCount += 1
            return
        }
        candidates.append(candidate)
    }

    private mutating func readSetup(_ value: SDPText, line: Int) {
        guard setup == nil else { return }
        setup = SetupRole(rawValue: value.string.lowercased())
        setupLine = line
    }

    private mutating func readFingerprint(_ value: SDPText, line: Int) {
        guard fingerprints.count < Limit.fingerprints else { return }
        do {
            fingerprints.append(try Fingerprint(sdp: value))
        } catch {
            switch error {
            case .algorithm: weakFingerprintLine = weakFingerprintLine ?? line
            case .digest: malformedFingerprintLine = malformedFingerprintLine ?? line
            }
        }
    }

    private mutating func readPayloadMap(_ value: SDPText) {
        var value = value
        guard let payloadType = value.word()?.number(as: UInt8.self), Self.canBeMuxed(payloadType) else { return }
        let encoding = value.field(before: UInt8(ascii: "/")).string.lowercased()
        let clockRate = value.field(before: UInt8(ascii: "/")).number
        // RFC 7587 7: always opus/48000/2; a missing channel count is let pass
        if encoding == "opus", clockRate == 48_000, value.isEmpty || value.number == 2 {
            opusPayloadTypes.insert(payloadType)
        }
    }

    /// RFC 5761 4: with RTCP on the same port, 64 to 95 cannot be told from RTCP.
    private static func canBeMuxed(_ payloadType: UInt8) -> Bool {
        payloadType < 64 || (96...127).contains(payloadType)
    }

    private mutating func readFormatParameters(_ value: SDPText) {
        var value = value
        guard let payloadType = value.word()?.number(as: UInt8.self), formatParameters[payloadType] == nil else {
            return
        }
        formatParameters[payloadType] = value
    }
}
