/// Whether a JSON text's strings can all be decoded (RFC 8259 7): asked before a stranger's text goes to the decoder.
///
/// FoundationEssentials of Swift 6.0.3 traps on an object's key that cannot. Structure and numbers are the decoder's to judge.
/// Pure; it keeps nothing.
package enum JSONStrings {
    /// False where a string holds a bare control character, an escape that does not exist or half a surrogate pair, where the
    /// text is not UTF-8, and where a control character other than a blank stands between the strings.
    package static func canBeDecoded(_ text: [UInt8]) -> Bool {
        guard String(validating: text, as: UTF8.self) != nil else { return false }
        var scan = StringScan(text: text)
        return scan.isSound()
    }
}

private struct StringScan {
    let text: [UInt8]
    var index = 0

    init(text: [UInt8]) {
        self.text = text
    }

    mutating func isSound() -> Bool {
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "\""):
                guard skipString() else { return false }
            case UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): continue
            case 0..<0x20: return false
            default: continue
            }
        }
        return true
    }

    private mutating func next() -> UInt8? {
        guard index < text.count else { return nil }
        index += 1
        return text[index - 1]
    }

    /// From behind the first quote to behind the last. A string without an end is the decoder's to refuse.
    private mutating func skipString() -> Bool {
        while let byte = next() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                guard skipEscape() else { return false }
            default: continue
            }
        }
        return true
    }

    private mutating func skipEscape() -> Bool {
        switch next() {
        case UInt8(ascii: "u"):
            guard let unit = hexadecimal() else { return false }
            switch unit {
            case 0xD800..<0xDC00:  // RFC 8259 7: a pair stands for one character.
                guard next() == UInt8(ascii: "\\"), next() == UInt8(ascii: "u"), let low = hexadecimal() else {
                    return false
                }
                return (0xDC00..<0xE000).contains(low)
            case 0xDC00..<0xE000: return false
            default: return true
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        default: return false
        }
    }

    private mutating func hexadecimal() -> UInt16? {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next(), digit < 0x80, let nibble = Character(UnicodeScalar(digit)).hexDigitValue else {
                return nil
            }
            value = value << 4 | UInt16(truncatingIfNeeded: nibble)
        }
        return value
    }
}
