/// What the architecture test asks of the sources. Each rule takes sources and returns its faults, as sentences with a place.
enum Rules {
    /// Every folder has its place in the layer table, and imports only what the table allows it.
    static func imports(_ files: [SourceFile]) -> [String] {
        files.flatMap { file -> [String] in
            guard let layer = Layers.all[file.folder] else {
                return [file.fault(1, "\(file.folder) has no place in the layer table (Layers.swift, HANDBOOK.md).")]
            }
            return file.imports.flatMap { found -> [String] in
                var faults: [String] = []
                if !layer.imports.contains(found.module) {
                    faults.append(file.fault(found.line, "\(file.folder) may not import \(found.module)."))
                }
                let isLibrary = file.folder.hasPrefix("VoiceCore") || file.folder.hasPrefix("Hardware")
                let hides = !found.modifiers.filter { ["internal", "private", "fileprivate"].contains($0) }.isEmpty
                if isLibrary, isCLibrary(found.module), !hides {
                    faults.append(file.fault(found.line, "\(found.module) is a C library: write `internal import`."))
                }
                return faults
            }
        }
    }

    /// "COpus", "CLinux": a C, then another capital.
    private static func isCLibrary(_ module: String) -> Bool {
        module.first == "C" && module.dropFirst().first?.isUppercase == true
    }

    /// A pure folder has no socket, clock, thread, task, lock, log, print or system randomness.
    static func purity(_ files: [SourceFile]) -> [String] {
        files.filter { Layers.all[$0.folder]?.isPure == true }.flatMap { file in
            file.tokens.indices.compactMap { index in
                let token = file.tokens[index]
                guard token.kind == .word else { return nil }
                let previous = index > 0 ? file.tokens[index - 1].text : ""
                let next = index + 1 < file.tokens.count ? file.tokens[index + 1].text : ""
                let isCall = next == "(" && previous != "." && previous != "func"
                if previous != ".", Layers.impureNames.contains(token.text) || token.text.hasPrefix("pthread_") {
                    return file.fault(token.line, "\(file.folder) is pure: no `\(token.text)`.")
                }
                if isCall, Layers.impureCalls.contains(token.text) {
                    return file.fault(token.line, "\(file.folder) is pure: no call of `\(token.text)`.")
                }
                if token.text == "random", previous == ".", next == "(", !argumentsName("using", after: index, in: file)
                {
                    return file.fault(token.line, "\(file.folder) is pure: `random` without `using:` asks the system.")
                }
                return nil
            }
        }
    }

    private static func argumentsName(_ label: String, after index: Int, in file: SourceFile) -> Bool {
        var depth = 0
        for token in file.tokens[(index + 1)...] {
            if token.text == "(" { depth += 1 }
            if token.text == ")" { depth -= 1 }
            if depth == 1, token.text == label { return true }
            if depth == 0 { return false }
        }
        return false
    }

    /// A folder names types of no folder that it may not use: nothing upward, nothing sideways.
    static func layering(_ files: [SourceFile]) -> [String] {
        var owners: [String: Set<String>] = [:]
        var own: [String: Set<String>] = [:]
        for file in files {
            for type in file.declaredTypes {
                own[file.folder, default: []].insert(type.name)
                if type.isTopLevel { owners[type.name, default: []].insert(file.folder) }
            }
        }
        return files.flatMap { file -> [String] in
            let target = file.folder.prefix { $0 != "/" }
            let uses = Layers.all[file.folder]?.uses ?? []
            guard !uses.contains("*") else { return [] }
            var faults: [String] = []
            for (index, token) in file.tokens.enumerated() {
                guard token.kind == .word, let owner = owners[token.text],
                    index == 0 || file.tokens[index - 1].text != ".",
                    own[file.folder]?.contains(token.text) != true,
                    owner.allSatisfy({
                        $0.hasPrefix("\(target)/") && !uses.contains(String($0.dropFirst(target.count + 1)))
                    }),
                    !(file.folder == "VoiceCore/Runtime" && Layers.faceWords.contains(token.text))
                else { continue }
                faults.append(
                    file.fault(
                        token.line,
                        "\(file.folder) may not use \(owner.sorted().joined(separator: ", ")): \(token.text)."))
            }
            return faults
        }
    }

    /// What can trap or step round the compiler's checks has its proof in the line above (style rule 17).
    static func proofs(_ files: [SourceFile]) -> [String] {
        files.flatMap { file in
            file.tokens.indices.compactMap { index in
                guard let name = needsProof(file.tokens, at: index) else { return nil }
                let line = file.tokens[index].line
                let above = file.lineAbove(line)
                let isProof = above.hasPrefix("//") && above.split(separator: " ").count > 3
                return isProof ? nil : file.fault(line, "`\(name)` needs its proof as a comment in the line above.")
            }
        }
    }

    private static func needsProof(_ tokens: [Token], at index: Int) -> String? {
        let token = tokens[index]
        let next = index + 1 < tokens.count ? tokens[index + 1] : nil
        switch token.text {
        case "fatalError" where next?.text == "(", "unowned":
            return token.text
        case "unchecked" where index > 0 && tokens[index - 1].text == "@":
            return "@unchecked"
        case "unsafe" where index > 1 && tokens[index - 1].text == "(" && tokens[index - 2].text == "nonisolated":
            return "nonisolated(unsafe)"
        case "!" where token.touchesPrevious && index > 0:
            let previous = tokens[index - 1]
            guard previous.kind == .word || [")", "]", "}", "?", ">"].contains(previous.text) else { return nil }
            if next?.text == "=", next?.touchesPrevious == true { return nil }
            return previous.text == "try" || previous.text == "as" ? "\(previous.text)!" : "!"
        default:
            return nil
        }
    }

    /// A file is about one subject: at most 350 lines.
    static func length(_ files: [SourceFile], reasons: [String: String]) -> [String] {
        files.filter { $0.lines.count - 1 > 350 && reasons[$0.path] == nil }.map {
            $0.fault($0.lines.count - 1, "more than 350 lines: split it by subject, or give a reason in LongFiles.")
        }
    }

    /// What another module calls says what it is. Plain initialisers and `description` say it by their name.
    static func documentation(_ files: [SourceFile]) -> [String] {
        files.flatMap { file -> [String] in
            let libraries = ["Sources/VoiceCore/", "Sources/Hardware/"]
            guard libraries.contains(where: file.path.hasPrefix) else { return [] }
            return file.tokens.indices.compactMap { index in
                let token = file.tokens[index]
                guard token.kind == .word, ["public", "open", "package"].contains(token.text),
                    index + 1 < file.tokens.count
                else { return nil }
                let rest = file.tokens[(index + 1)...].prefix { $0.line == token.line }.map(\.text)
                let subject = rest.prefix { $0 != ":" && $0 != "(" && $0 != "{" && $0 != "=" }
                // What a protocol of the standard library named, operators among it, is documented there.
                let saysItself: Set = ["import", "extension", "description", "debugDescription", "hash"]
                let name = rest.firstIndex(of: "func").flatMap { $0 + 1 < rest.count ? rest[$0 + 1] : nil }
                let isOperator = name?.first.map { !$0.isLetter && $0 != "_" } ?? false
                guard saysItself.isDisjoint(with: subject), !isOperator, !isPlainInitializer(rest), rest.first != "("
                else { return nil }
                return hasDoc(file, above: token.line)
                    ? nil
                    : file.fault(token.line, "`\(subject.joined(separator: " "))` is public and has no doc comment.")
            }
        }
    }

    private static func isPlainInitializer(_ words: [String]) -> Bool {
        words.first == "init" && !words.contains("throws")
    }

    /// A doc comment ends in the line above, or above the attributes and proofs that stand there.
    private static func hasDoc(_ file: SourceFile, above line: Int) -> Bool {
        var line = line
        while true {
            let above = file.lineAbove(line)
            if above.hasPrefix("///") { return true }
            guard above.hasPrefix("@") || above.hasPrefix("//") else { return false }
            line -= 1
        }
    }
}
