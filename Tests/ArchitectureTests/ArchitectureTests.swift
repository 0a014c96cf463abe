import Testing

/// The sources as they are, against every rule.
@Suite struct ArchitectureTests {
    /// Files of more than 350 lines, each with the reason.
    static let longFiles: [String: String] = [:]

    private func expectNone(_ faults: [String], sourceLocation: SourceLocation = #_sourceLocation) {
        for fault in faults { Issue.record("\(fault)", sourceLocation: sourceLocation) }
    }

    @Test func theSourcesAreFound() throws {
        let folders = Set(try SourceTree.files(under: "Sources").map(\.folder))
        #expect(folders.isSuperset(of: ["VoiceCore/Base", "VoiceCore/Voice", "Hardware/GPIO", "Appliance"]))
    }

    @Test func everyFolderImportsOnlyWhatItsLayerAllows() throws {
        expectNone(Rules.imports(try SourceTree.files(under: "Sources")))
    }

    @Test func pureFoldersTouchNothingOutside() throws {
        expectNone(Rules.purity(try SourceTree.files(under: "Sources")))
    }

    @Test func noFolderNamesATypeAboveOrBesideIt() throws {
        expectNone(Rules.layering(try SourceTree.files(under: "Sources")))
    }

    @Test func whatCanTrapHasItsProofAboveIt() throws {
        expectNone(Rules.proofs(try SourceTree.files(under: "Sources")))
    }

    @Test(arguments: ["Sources", "Tests"]) func noFileIsLongWithoutAReason(folder: String) throws {
        expectNone(Rules.length(try SourceTree.files(under: folder), reasons: Self.longFiles))
    }

    @Test func whatOtherModulesCallIsDocumented() throws {
        expectNone(Rules.documentation(try SourceTree.files(under: "Sources")))
    }
}
