/// Why a description cannot be used: what is wrong, on which line, and the cure.
///
/// It never quotes the text it is about: an address or a secret may stand there.
struct SDPError: Error, Hashable, Sendable {
    enum Problem: Hashable, Sendable {
        /// The text does not begin with `v=0`.
        case notSDP(Beginning)
        case tooLarge
        case tooManyLines
        case tooManySections
        /// An m= line that cannot be read; without it nothing below it can be told apart.
        case malformedMediaLine(MediaLineFault)

        // From here on: it is SDP, but no voice can be had from it (`SessionDescription.negotiated(as:)`).
        case noAudio
        case audioRefused
        case audioInactive
        case noOpus
        case noRTCPMux
        case noICECredentials
        case malformedICECredentials
        case noFingerprint
        case malformedFingerprint
        /// Only hashes older than SHA-256.
        case weakFingerprint
        case unusableSetup
    }

    /// What a text that is no SDP looks like.
    enum Beginning: Hashable, Sendable {
        case nothing
        case json
        case markup
        case somethingElse
    }

    enum MediaLineFault: String, Error, Hashable, Sendable {
        case tooLong = "it is longer than 4,096 bytes"
        case noKind = "the kind of media is missing"
        case noPort = "there is no port from 0 to 65535"
        case noProtocol = "the protocol is missing"
        case noFormat = "no format is listed"
    }

    let problem: Problem
    /// Counted from 1; nil where no one line is to blame.
    let line: Int?

    init(_ problem: Problem, line: Int? = nil) {
        self.problem = problem
        self.line = line
    }
}

extension SDPError: CustomStringConvertible {
    var description: String {
        guard let line else { return "SDP: \(sentence)" }
        return "SDP line \(line): \(sentence)"
    }

    private var sentence: String {
        switch problem {
        case .notSDP(.nothing):
            "there is no text; hand over the other side's description as it came."
        case .notSDP(.json):
            "this is JSON, not SDP (SDP begins with v=0); take the description out of it, or read the error it tells."
        case .notSDP(.markup):
            "this is HTML or XML, not SDP (SDP begins with v=0); a gateway seems to have answered, check the URL."
        case .notSDP(.somethingElse):
            "this does not begin with v=0 as SDP does; hand over the other side's description as it came."
        case .tooLarge:
            "the text is larger than 256 KiB; a description has a few KiB, check what is handed over."
        case .tooManyLines:
            "there are more than 8,192 lines; a description has some dozens, check what is handed over."
        case .tooManySections:
            "there are more than 64 m= sections; describe one audio section and one application section."
        case .malformedMediaLine(let fault):
            "the m= line cannot be read, \(fault.rawValue); it must be m=KIND PORT PROTOCOL FORMAT..."
        case .noAudio:
            "there is no m=audio section; the other side must describe audio with Opus."
        case .audioRefused:
            "the audio is refused (m=audio has port 0); let the other side accept audio, and check that it can use Opus."
        case .audioInactive:
            "the audio is inactive, so neither side would be heard; the other side must say a=sendrecv."
        case .noOpus:
            "the m=audio section has no Opus; the other side must list a payload type with a=rtpmap:N opus/48000/2."
        case .noRTCPMux:
            "the m=audio section has no a=rtcp-mux; the other side must carry RTP and RTCP on one port."
        case .noICECredentials:
            "a=ice-ufrag or a=ice-pwd is missing; the other side must use ICE."
        case .malformedICECredentials:
            "this a=ice-ufrag (4 to 256 characters) or a=ice-pwd (22 to 256) cannot be used; it was cut or altered on its way."
        case .noFingerprint:
            "there is no a=fingerprint; the other side must use DTLS-SRTP."
        case .malformedFingerprint:
            "this a=fingerprint is not a hash of its kind in hexadecimal; it was cut or altered on its way."
        case .weakFingerprint:
            "this a=fingerprint uses an outdated hash; the other side must give sha-256, sha-384 or sha-512."
        case .unusableSetup:
            "this a=setup cannot be used; an answer must say active or passive, an offer actpass, active or passive."
        }
    }
}
