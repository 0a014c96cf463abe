/// Search for one text in another, byte by byte.
///
/// Written by hand: the standard library's search brings its regular expressions into the program, 1 MB.
extension StringProtocol {
    /// Where `text`, which is not empty, stands first.
    func firstPlace(of text: String) -> Range<String.Index>? {
        var start = utf8.startIndex
        while start != utf8.endIndex {
            if utf8[start...].starts(with: text.utf8) { return start..<utf8.index(start, offsetBy: text.utf8.count) }
            utf8.formIndex(after: &start)
        }
        return nil
    }

    /// The text with each `placeholder` replaced.
    func filling(_ placeholder: String, with value: String) -> String {
        var result = ""
        var rest = self[...]
        while let place = rest.firstPlace(of: placeholder) {
            result += rest[..<place.lowerBound]
            result += value
            rest = rest[place.upperBound...]
        }
        return result + rest
    }
}
