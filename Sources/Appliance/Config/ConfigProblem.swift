/// One thing that is wrong with a config file, for the installer who has to mend it.
struct ConfigProblem: Error, Equatable, Sendable {
    /// Counted from 1; nil where the file as a whole is meant.
    var line: Int?
    /// The key as written, where the line has one.
    var key: String?
    /// What is wrong.
    var what: String
    /// What to do about it.
    var cure: String

    /// One line for the console: "file:line: what; cure".
    func described(inFile path: String) -> String {
        let place = line.map { "\(path):\($0)" } ?? path
        return "\(place): \(what); \(cure)"
    }
}

/// All that is wrong with a config file, in the order of its lines.
struct ConfigProblems: Error, Equatable, Sendable {
    /// At least one, at most `ConfigReader.problemLimit`.
    var problems: [ConfigProblem]
    /// What the lines without a mistake say.
    var configuration = Configuration()
}
