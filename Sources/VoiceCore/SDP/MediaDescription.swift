/// One m= section of a description, used or not (RFC 8866 5.14).
struct MediaDescription: Sendable {
    /// The line its m= stands on.
    let line: Int
    /// audio, video, application...
    let kind: String
    let port: UInt16
    /// For example UDP/TLS/RTP/SAVPF.
    let protocolName: String
    /// Payload types, or the data channel's name (new form) or SCTP port (old form); 1 to 128.
    let formats: [String]
    var attributes = SDPAttributes()

    /// Reads what follows `m=`.
    /// - Throws: `SDPError.MediaLineFault` naming what is missing.
    init(_ text: SDPText, line: Int) throws(SDPError.MediaLineFault) {
        var text = text
        self.line = line
        guard let kind = text.word(), kind.isVisibleASCII else { throw .noKind }
        self.kind = kind.string.lowercased()
        // RFC 8866 5.14: the port may be followed by /count, which means nothing with rtcp-mux
        guard var ports = text.word(), let port = ports.field(before: UInt8(ascii: "/")).number(as: UInt16.self) else {
            throw .noPort
        }
        self.port = port
        guard let protocolName = text.word(), protocolName.isVisibleASCII else { throw .noProtocol }
        self.protocolName = protocolName.string.uppercased()
        var formats: [String] = []
        while formats.count < 128, let format = text.word() {
            if format.isVisibleASCII { formats.append(format.string) }
        }
        guard !formats.isEmpty else { throw .noFormat }
        self.formats = formats
    }

    /// Port 0 refuses or disables a section (RFC 3264 6), but for bundle-only, where another section's port is used (RFC 8843 6).
    var isRefused: Bool { port == 0 && !attributes.isBundleOnly }

    /// RTP audio. Whether or not its profile says so, it is DTLS-SRTP by its fingerprint (RFC 8827 6.5 allows no other).
    var isAudio: Bool {
        kind == "audio" && ["SAVPF", "SAVP", "AVPF", "AVP"].contains { protocolName.hasSuffix("/" + $0) }
    }

    /// The first of its formats that is Opus.
    var opus: OpusFormat? {
        for format in formats {
            guard let payloadType = UInt8(format), attributes.opusPayloadTypes.contains(payloadType) else { continue }
            guard let parameters = attributes.formatParameters[payloadType] else {
                return OpusFormat(payloadType: payloadType)
            }
            return OpusFormat(payloadType: payloadType, parameters: parameters)
        }
        return nil
    }

    /// The data channels that it describes, in the form of RFC 8841 or the one before it (DTLS/SCTP 5000 and a=sctpmap).
    var application: ApplicationDescription? {
        guard kind == "application", protocolName.hasSuffix("DTLS/SCTP") else { return nil }
        let port = attributes.sctpPort ?? formats.first.flatMap { UInt16($0) } ?? ApplicationDescription.defaultPort
        guard port != 0 else { return nil }
        var description = ApplicationDescription(
            mid: attributes.mid, sctpPort: port, announcedSize: attributes.maxMessageSize)
        if let old = formats.first.flatMap({ UInt16($0) }) { description.answeredPort = old }
        return description
    }
}

/// The other side's end of the data channels' SCTP association (RFC 8841).
struct ApplicationDescription: Hashable, Sendable {
    var mid: String?
    var sctpPort: UInt16
    /// Our own in an answer to it: its own in the old form, in which there is one number for both.
    var answeredPort = Self.defaultPort
    /// The largest message that it takes, as far as we would ever send one.
    var maxMessageByteCount: Int

    /// The port everybody uses.
    static let defaultPort: UInt16 = 5000
    /// What we take and the most that we send; peers announce up to 1 GiB. What libwebrtc and aiortc take.
    static let maxMessageByteCount = 262_144

    /// - Parameter announcedSize: a=max-message-size; nil is 64 KiB, 0 any size (RFC 8841 6.1).
    init(mid: String?, sctpPort: UInt16, announcedSize: UInt64?) {
        self.mid = mid
        self.sctpPort = sctpPort
        let announced = announcedSize == 0 ? .max : announcedSize ?? 65_536
        maxMessageByteCount = Int(min(announced, UInt64(Self.maxMessageByteCount)))
    }
}
