/// Reads the values of a config file: text in, value out, nil where it is none. Pure; never traps.
enum ConfigValue {
    /// A number with its unit: "300 ms", "1.5 s", "2 min".
    static func duration(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = text[digits.endIndex...].drop { $0 == " " || $0 == "\t" }
        let nanosecondsPerUnit: Int64? =
            switch unit {
            case "ms": 1_000_000
            case "s": 1_000_000_000
            case "min": 60_000_000_000
            default: nil
            }
        // 9 digits before the point and 3 after it: only the last product can leave 64 bits, and it is checked.
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let nanosecondsPerUnit, let whole = parts.first, (1...9).contains(whole.count),
            let units = Int64(whole)
        else { return nil }
        var thousandths: Int64 = 0
        if parts.count == 2 {
            guard (1...3).contains(parts[1].count), let fraction = Int64(parts[1]) else { return nil }
            thousandths = fraction * [100, 10, 1][parts[1].count - 1]
        }
        let nanoseconds = (units * 1000 + thousandths).multipliedReportingOverflow(by: nanosecondsPerUnit / 1000)
        return nanoseconds.overflow ? nil : .nanoseconds(nanoseconds.partialValue)
    }

    static func yesOrNo(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "yes", "true", "on": true
        case "no", "false", "off": false
        default: nil
        }
    }

    /// A whole number without a sign.
    static func wholeNumber(_ text: String) -> Int? {
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    /// Names between commas; blanks around them and empty ones do not count.
    static func list(_ text: String) -> [String] {
        text.split(separator: ",").map(trimmed).filter { !$0.isEmpty }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text.drop { $0 == " " || $0 == "\t" })
    }

    /// How many letters must be added, taken away, changed or swapped with their neighbour to make one word of the other
    /// (optimal string alignment).
    static func editDistance(_ a: String, _ b: String) -> Int {
        let a = Array(a.unicodeScalars)
        let b = Array(b.unicodeScalars)
        var beforePrevious: [Int] = []
        var previous = Array(0...b.count)
        for row in a.indices {
            var current = [row + 1]
            for column in b.indices {
                let change = previous[column] + (a[row] == b[column] ? 0 : 1)
                var best = min(change, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, a[row] == b[column - 1], a[row - 1] == b[column] {
                    best = min(best, beforePrevious[column - 1] + 1)
                }
                current.append(best)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[b.count]
    }

    /// The word nearest to `text`, where one is near enough to be meant: a third of its letters may differ.
    static func nearest(to text: String, among words: [String]) -> String? {
        guard !text.isEmpty, text.utf8.count <= 64 else { return nil }
        let plain = String(text.lowercased().map { $0 == "-" ? "_" : $0 })
        let ranked = words.map { (word: $0, distance: editDistance(plain, $0)) }
        guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
        return best.distance <= max(1, best.word.count / 3) ? best.word : nil
    }
}
