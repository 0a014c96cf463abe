import FoundationEssentials

@testable import VoiceCore

/// The descriptions in Tests/Fixtures/sdp: captures of public peers with documentation addresses, and some made by hand.
enum SDPFixture: String, CaseIterable, Sendable {
    case aiortcAnswer = "aiortc-answer"
    case aiortcAnswerPassive = "aiortc-answer-passive"
    case aiortcAnswerToGStreamer = "aiortc-answer-to-gstreamer"
    case aiortcOffer = "aiortc-offer"
    case browserOfferWithVideo = "browser-offer-with-video"
    case chromiumAnswer = "chromium-answer"
    case chromiumOffer = "chromium-offer"
    case embeddedOffer = "embedded-offer"
    case everythingOdd = "everything-odd"
    case gstreamerAnswer = "gstreamer-answer"
    case gstreamerOffer = "gstreamer-offer"
    case janusICELite = "janus-ice-lite"
    case openAIDocumentation = "openai-documentation"
    case openAIFullICETwoComponents = "openai-full-ice-two-components"
    case openAIICELite = "openai-ice-lite"
    case openAIICELiteNoFinalNewline = "openai-ice-lite-no-final-newline"
    case openAIICELiteOpus96 = "openai-ice-lite-opus-96"

    static let offers = allCases.filter { $0.kind == .offer }

    var text: String {
        get throws {
            let folder = URL(filePath: #filePath).deletingLastPathComponent()
            let file = folder.appending(path: "../../Fixtures/sdp/\(rawValue).sdp")
            return String(decoding: try Data(contentsOf: file), as: UTF8.self)
        }
    }

    var description: SessionDescription {
        get throws { try SessionDescription(parsing: try text) }
    }

    var kind: DescriptionKind {
        switch self {
        case .aiortcOffer, .browserOfferWithVideo, .chromiumOffer, .embeddedOffer, .gstreamerOffer: .offer
        default: .answer
        }
    }
}

/// An answer that a voice can be had from, of as few lines as that takes, to be spoilt line by line.
let smallestAnswer = [
    "v=0",
    "o=- 1 1 IN IP4 0.0.0.0",
    "s=-",
    "t=0 0",
    "m=audio 9 UDP/TLS/RTP/SAVPF 96",
    "a=rtpmap:96 opus/48000/2",
    "a=rtcp-mux",
    "a=ice-ufrag:abcd",
    "a=ice-pwd:abcdefghijklmnopqrstuv",
    "a=fingerprint:sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"),
    "a=setup:active",
]
