/// What a remote offer or answer says, read tolerantly: the parts a voice needs, and every m= section in its order.
///
/// A value without an owner. Reading is bounded in time and memory whatever the text is. Lines and candidates that make no sense are
/// counted and passed over; whether a voice can be had from the rest is asked with `negotiated(as:)`.
///
/// Left out: everything but one Opus audio section and one data channel section, because that is what a voice is; RTP header
/// extensions, RTCP feedback, simulcast and RED, which are never offered and so never needed. BUNDLE and rtcp-mux are assumed, because
/// every WebRTC peer has them.
struct SessionDescription: Sendable {
    /// What stands above the first m= line.
    private(set) var session = SDPAttributes()
    /// Every m= section in order, those that are refused or of no use too.
    private(set) var sections: [MediaDescription] = []
    /// Lines that are no SDP or too long, and were passed over.
    private(set) var skippedLineCount = 0

    private enum Limit {
        /// What public providers take at most, too.
        static let byteCount = 256 * 1024
        static let lineByteCount = 4_096
        static let lines = 8_192
        static let sections = 64
    }

    /// Reads a description.
    /// - Throws: `notSDP` where it does not begin with v=0 (blank lines aside), `tooLarge`, `tooManyLines`, `tooManySections`,
    ///   `malformedMediaLine`; the description cannot be used then.
    init(parsing text: String) throws(SDPError) {
        guard text.utf8.count <= Limit.byteCount else { throw SDPError(.tooLarge) }
        var hasBegun = false
        for (number, line) in SDPLines(text) {
            guard number <= Limit.lines else { throw SDPError(.tooManyLines, line: number) }
            guard !line.isEmpty else { continue }
            guard hasBegun else {
                guard line.string == "v=0" else { throw SDPError(.notSDP(Self.beginning(line)), line: number) }
                hasBegun = true
                continue
            }
            try read(line, number: number)
        }
        guard hasBegun else { throw SDPError(.notSDP(.nothing)) }
    }

    /// Whether the other side is ice-lite: it never sends checks of its own.
    var isICELite: Bool { session.isICELite || sections.contains { $0.attributes.isICELite } }

    /// Candidates that were passed over, in all sections.
    var skippedCandidateCount: Int {
        sections.reduce(session.skippedCandidateCount) { $0 + $1.attributes.skippedCandidateCount }
    }

    private mutating func read(_ line: SDPText, number: Int) throws(SDPError) {
        var value = line
        let type = value.field(before: UInt8(ascii: "=")).string
        let isTooLong = line.byteCount > Limit.lineByteCount
        switch type {
        case "m":
            guard !isTooLong else { throw SDPError(.malformedMediaLine(.tooLong), line: number) }
            guard sections.count < Limit.sections else { throw SDPError(.tooManySections, line: number) }
            do {
                sections.append(try MediaDescription(value, line: number))
            } catch {
                throw SDPError(.malformedMediaLine(error), line: number)
            }
        case "a" where !isTooLong:
            if sections.isEmpty {
                session.read(value, line: number)
            } else {
                sections[sections.count - 1].attributes.read(value, line: number)
            }
        case "o", "s", "i", "u", "e", "p", "c", "b", "t", "r", "z", "k":
            break  // RFC 8866 5: nothing in them is needed, in whatever order they come
        default:
            skippedLineCount += 1
        }
    }

    private static func beginning(_ line: SDPText) -> SDPError.Beginning {
        switch line.string.utf8.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "\""): .json
        case UInt8(ascii: "<"): .markup
        default: .somethingElse
        }
    }
}
