/// One word or sign of a Swift source, with what the rules ask of it. Comments and the text of string literals are left out.
struct Token: Equatable {
    enum Kind: Equatable {
        /// A name or keyword, without backticks, or a number.
        case word
        /// One ASCII sign.
        case sign
    }

    var kind: Kind
    var text: String
    /// Counted from 1.
    var line: Int
    /// Whether it follows the token before it without a blank: tells `value!` from `!value`.
    var touchesPrevious: Bool
}

/// Splits Swift sources into tokens, well enough for rules about words; it is no parser.
///
/// Code inside string interpolations is read as code. Regex literals are not known; the sources have none.
struct SwiftTokens {
    private(set) var tokens: [Token] = []
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var touches = false

    init(_ source: String) {
        bytes = Array(source.utf8)
        readCode(untilParenthesis: false)
    }

    private var current: UInt8 { index < bytes.count ? bytes[index] : 0 }

    private func starts(with text: StaticString) -> Bool {
        let end = index + text.utf8CodeUnitCount
        guard end <= bytes.count else { return false }
        return text.withUTF8Buffer { buffer in bytes[index..<end].elementsEqual(buffer) }
    }

    private mutating func step(_ count: Int = 1) {
        for _ in 0..<count where index < bytes.count {
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
    }

    /// Reads to the end, or past the parenthesis that closes an interpolation.
    private mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while index < bytes.count {
            if starts(with: "//") {
                while index < bytes.count, current != UInt8(ascii: "\n") { step() }
            } else if starts(with: "/*") {
                skipBlockComment()
            } else if current == UInt8(ascii: "\"") || (current == UInt8(ascii: "#") && hashesOpenString()) {
                readString()
                touches = true
            } else if isWord(current) || current == UInt8(ascii: "`") {
                readWord()
            } else if current <= 32 {
                step()
                touches = false
            } else {
                if current == UInt8(ascii: "(") { depth += 1 }
                if current == UInt8(ascii: ")") {
                    if untilParenthesis, depth == 0 { return step() }
                    depth -= 1
                }
                append(.sign, String(UnicodeScalar(current)))
                step()
            }
        }
    }

    private mutating func append(_ kind: Token.Kind, _ text: String) {
        tokens.append(Token(kind: kind, text: text, line: line, touchesPrevious: touches))
        touches = true
    }

    private func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 128...:
            true
        default: false
        }
    }

    private mutating func readWord() {
        let start = index
        while index < bytes.count, isWord(current) || current == UInt8(ascii: "`") { step() }
        append(.word, String(decoding: bytes[start..<index].filter { $0 != UInt8(ascii: "`") }, as: UTF8.self))
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if starts(with: "/*") {
                depth += 1
                step(2)
            } else if starts(with: "*/") {
                depth -= 1
                step(2)
            } else {
                step()
            }
        } while depth > 0 && index < bytes.count
        touches = false
    }

    private func hashesOpenString() -> Bool {
        let rest = bytes[index...].drop { $0 == UInt8(ascii: "#") }
        return rest.first == UInt8(ascii: "\"")
    }

    private mutating func readString() {
        var hashes = 0
        while current == UInt8(ascii: "#") {
            hashes += 1
            step()
        }
        let isMultiline = starts(with: "\"\"\"")
        step(isMultiline ? 3 : 1)
        while index < bytes.count {
            if current == UInt8(ascii: "\\"), follows(hashes, after: 1) {
                step(1 + hashes)
                let interpolates = current == UInt8(ascii: "(")
                step()
                if interpolates {
                    touches = false
                    readCode(untilParenthesis: true)
                }
            } else if isMultiline ? starts(with: "\"\"\"") : current == UInt8(ascii: "\""),
                follows(hashes, after: isMultiline ? 3 : 1)
            {
                return step((isMultiline ? 3 : 1) + hashes)
            } else {
                step()
            }
        }
    }

    private func follows(_ hashes: Int, after offset: Int) -> Bool {
        let start = index + offset
        return start + hashes <= bytes.count && bytes[start..<start + hashes].allSatisfy { $0 == UInt8(ascii: "#") }
    }
}
