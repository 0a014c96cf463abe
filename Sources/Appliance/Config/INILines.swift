/// A line of an INI file that says something.
struct INILine: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case section(String)
        case setting(key: String, value: String)
        /// The line cannot be read.
        case unreadable(what: String, cure: String)
    }

    /// Counted from 1.
    var number: Int
    var content: Content
}

/// Reads the lines of an INI file: bytes in, lines out. Pure; never traps and never reads past what it was given.
///
/// Our own and not Debian's libinih: that library is built without INI_HANDLER_LINENO, so its callback is not told the line,
/// which is what an installer needs most; a line of 200 bytes or more is cut in two without a word; and it takes C strings, so
/// that a NUL byte ends the file.
///
/// The dialect: `[section]`, `key = value`, and comments from `#` or `;` at a line's start or after a blank. A value that
/// holds such a comment sign or blanks at its ends stands in double quotes; there are no escapes. LF, CRLF and a byte order
/// mark are taken.
struct INILines {
    static func read(_ bytes: [UInt8]) -> [INILine] {
        var content = bytes[...]
        if content.starts(with: [0xEF, 0xBB, 0xBF]) { content = content.dropFirst(3) }
        var lines: [INILine] = []
        var number = 0
        for raw in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            number += 1
            let line = raw.last == UInt8(ascii: "\r") ? raw.dropLast() : raw
            if let content = read(line: line) { lines.append(INILine(number: number, content: content)) }
        }
        return lines
    }

    /// What one line says; nil where it is empty or a comment.
    private static func read(line: ArraySlice<UInt8>) -> INILine.Content? {
        let line = trimmed(line)
        guard let first = line.first, !startsComment(first) else { return nil }
        guard !line.contains(where: { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }) else {
            return .unreadable(what: "the line holds a control character", cure: "remove it, or write the line anew")
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            return .unreadable(what: "the line is not UTF-8 text", cure: "save the file as UTF-8")
        }
        if first == UInt8(ascii: "[") { return section(line) }
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")) else {
            return .unreadable(
                what: "\(quoted(text)) is neither a [section] nor a key with a value", cure: "write it as key = value")
        }
        let key = String(decoding: trimmed(line[..<equals]), as: UTF8.self)
        guard !key.isEmpty else {
            return .unreadable(what: "there is no key before the =", cure: "write the line as key = value")
        }
        return value(line[line.index(after: equals)...], of: key)
    }

    private static func section(_ line: ArraySlice<UInt8>) -> INILine.Content {
        let cure = "write it as [section] on a line of its own"
        guard let end = line.firstIndex(of: UInt8(ascii: "]")) else {
            return .unreadable(what: "the section's name does not end", cure: cure)
        }
        let rest = trimmed(line[line.index(after: end)...])
        guard rest.first.map(startsComment) ?? true else {
            return .unreadable(what: "something follows the section's name", cure: cure)
        }
        let name = trimmed(line[line.index(after: line.startIndex)..<end])
        return .section(String(decoding: name, as: UTF8.self))
    }

    private static func value(_ raw: ArraySlice<UInt8>, of key: String) -> INILine.Content {
        let raw = trimmed(raw)
        let quote = UInt8(ascii: "\"")
        if raw.first == quote {
            let inside = raw.dropFirst()
            let cure = "write it as \(key.prefix(40)) = \"value\""
            guard let end = inside.firstIndex(of: quote) else {
                return .unreadable(what: "the value's quotation mark has no second", cure: cure)
            }
            guard trimmed(inside[inside.index(after: end)...]).first.map(startsComment) ?? true else {
                return .unreadable(what: "something follows the value's second quotation mark", cure: cure)
            }
            return .setting(key: key, value: String(decoding: inside[..<end], as: UTF8.self))
        }
        var end = raw.endIndex
        var followsBlank = true
        for index in raw.indices {
            if followsBlank, startsComment(raw[index]) {
                end = index
                break
            }
            followsBlank = isBlank(raw[index])
        }
        return .setting(key: key, value: String(decoding: trimmed(raw[..<end]), as: UTF8.self))
    }

    private static func startsComment(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";")
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let first = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return [] }
        return bytes[first...last]
    }

    /// Text of a stranger in a message: short and in quotation marks.
    static func quoted(_ text: String) -> String {
        let limit = 60
        return text.count > limit ? "\"\(text.prefix(limit))…\"" : "\"\(text)\""
    }
}
