import FoundationEssentials

/// One Swift source as the rules see it: where it stands, its lines, its tokens.
struct SourceFile {
    /// From the repository's root, for example "Sources/VoiceCore/ICE/ICEAgent.swift".
    let path: String
    let lines: [Substring]
    let tokens: [Token]

    init(path: String, source: String) {
        self.path = path
        lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        tokens = SwiftTokens(source).tokens
    }

    /// The target and the folder in it, for example "VoiceCore/ICE"; files beside the folders belong to "VoiceCore".
    var folder: String {
        path.split(separator: "/").dropFirst().dropLast().prefix(2).joined(separator: "/")
    }

    /// A fault of this file, as a sentence that names the place.
    func fault(_ line: Int, _ sentence: String) -> String { "\(path):\(line): \(sentence)" }

    /// The line above, without its indentation; empty for the first.
    func lineAbove(_ line: Int) -> Substring {
        guard line >= 2, line - 2 < lines.count else { return "" }
        return lines[line - 2].drop { $0 == " " }
    }

    /// The modules it imports, each with its line and the words before `import`.
    var imports: [(module: String, line: Int, modifiers: [String])] {
        tokens.indices.compactMap { index in
            guard tokens[index].text == "import", index + 1 < tokens.count else { return nil }
            let isStart =
                index == 0 || tokens[index - 1].line < tokens[index].line || importModifiers(before: index) != []
            guard isStart else { return nil }
            let kinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
            let name = kinds.contains(tokens[index + 1].text) ? index + 2 : index + 1
            guard name < tokens.count else { return nil }
            return (tokens[name].text, tokens[index].line, importModifiers(before: index))
        }
    }

    private func importModifiers(before index: Int) -> [String] {
        tokens[..<index].reversed().prefix { $0.line == tokens[index].line && $0.kind == .word }.map(\.text)
    }

    /// The types it declares, each with whether it stands at the top level of the file.
    var declaredTypes: [(name: String, isTopLevel: Bool)] {
        let kinds: Set = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        var depth = 0
        var found: [(String, Bool)] = []
        for index in tokens.indices {
            switch tokens[index].text {
            case "{": depth += 1
            case "}": depth -= 1
            default:
                guard kinds.contains(tokens[index].text), tokens[index].kind == .word, index + 1 < tokens.count,
                    tokens[index + 1].kind == .word, tokens[index + 1].text.first?.isUppercase == true,
                    index == 0 || (tokens[index - 1].text != "." && tokens[index - 1].text != "import")
                else { continue }
                found.append((tokens[index + 1].text, depth == 0))
            }
        }
        return found
    }
}

/// The repository's own sources.
enum SourceTree {
    static let root: String = {
        // Tests/ArchitectureTests/SourceFile.swift
        let parts = #filePath.split(separator: "/").dropLast(3)
        return "/" + parts.joined(separator: "/")
    }()

    /// All Swift sources under a folder of the repository, sorted by path.
    static func files(under folder: String) throws -> [SourceFile] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)")
        return try names.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.sorted().map { name in
            SourceFile(path: "\(folder)/\(name)", source: try text(of: "\(folder)/\(name)"))
        }
    }

    static func text(of path: String) throws -> String {
        try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }
}
