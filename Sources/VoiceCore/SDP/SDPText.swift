/// A piece of one SDP line, read from left to right.
///
/// It looks at bytes, not characters, since SDP's separators are bytes (and CR LF would be one character). It never traps and copies
/// nothing before `string` is asked for.
struct SDPText {
    private var bytes: Substring.UTF8View

    init(_ bytes: Substring.UTF8View) {
        self.bytes = bytes
        trim()
    }

    init(_ text: String) {
        self.init(text[...].utf8)
    }

    var isEmpty: Bool { bytes.isEmpty }
    var byteCount: Int { bytes.count }
    var string: String { String(Substring(bytes)) }

    /// Whether it is one or more visible ASCII characters: what may be copied into a line of ours.
    var isVisibleASCII: Bool { !bytes.isEmpty && bytes.allSatisfy { (0x21...0x7E).contains($0) } }

    /// The decimal number that it is, `UInt64.max` where it is larger than that; nil where it is none.
    var number: UInt64? {
        guard !bytes.isEmpty else { return nil }
        var value: UInt64 = 0
        for byte in bytes {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(byte & 0x0F))
            value = overflow || carry || value == .max ? .max : sum
        }
        return value
    }

    /// The number that it is where `Number` can hold it.
    func number<Number: FixedWidthInteger>(as: Number.Type) -> Number? {
        number.flatMap { Number(exactly: $0) }
    }

    /// The byte that two hexadecimal digits name; nil where it is anything else.
    var hexadecimalByte: UInt8? {
        guard bytes.count == 2, bytes.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else { return nil }
        return UInt8(string, radix: 16)
    }

    /// Takes the next word, which ends at blanks; nil at the end.
    mutating func word() -> SDPText? {
        guard !bytes.isEmpty else { return nil }
        let end = bytes.firstIndex(where: Self.isBlank) ?? bytes.endIndex
        let word = SDPText(bytes[..<end])
        bytes = bytes[end...]
        trim()
        return word
    }

    /// Takes what stands before the next `separator`, and the separator; all that is left where there is none.
    mutating func field(before separator: UInt8) -> SDPText {
        let end = bytes.firstIndex(of: separator) ?? bytes.endIndex
        let field = SDPText(bytes[..<end])
        bytes = end == bytes.endIndex ? bytes[end...] : bytes[bytes.index(after: end)...]
        trim()
        return field
    }

    private mutating func trim() {
        while let first = bytes.first, Self.isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, Self.isBlank(last) { bytes.removeLast() }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}

/// The lines of a text, counted from 1, whether they end with CR LF, LF or CR, and whether or not the last one ends at all.
struct SDPLines: Sequence, IteratorProtocol {
    private var rest: Substring.UTF8View
    private var number = 0

    init(_ text: String) {
        rest = text[...].utf8
    }

    mutating func next() -> (number: Int, text: SDPText)? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? rest.endIndex
        let line = rest[..<end]
        rest = rest[end...]
        if rest.popFirst() == UInt8(ascii: "\r"), rest.first == UInt8(ascii: "\n") { rest.removeFirst() }
        number += 1
        return (number, SDPText(line))
    }
}
