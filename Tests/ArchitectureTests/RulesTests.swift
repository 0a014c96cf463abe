import Testing

/// Each rule can fail, and does not where it should not.
@Suite struct RulesTests {
    private func file(_ path: String, _ source: String) -> SourceFile {
        SourceFile(path: "Sources/\(path)", source: source + "\n")
    }

    @Test(arguments: [
        ("VoiceCore/ICE/A.swift", "import Glibc", 1),
        ("VoiceCore/ICE/A.swift", "internal import COpenSSL", 1),
        ("VoiceCore/DTLS/A.swift", "internal import COpenSSL", 0),
        ("VoiceCore/DTLS/A.swift", "import COpenSSL", 1),
        ("VoiceCore/DTLS/A.swift", "// import Foundation\nlet text = \"import Foundation\"", 0),
        ("VoiceCore/Voice/A.swift", "@preconcurrency import Foundation", 1),
        ("VoiceCore/Runtime/A.swift", "import Hardware", 1),
        ("VoiceCore/Runtime/A.swift", "import Synchronization\ninternal import CLinux", 0),
        ("VoiceCore/Extra/A.swift", "struct A {}", 1),
        ("Hardware/GPIO/A.swift", "import VoiceCore", 1),
        ("Hardware/GPIO/A.swift", "internal import CSystemd", 1),
        ("DemoProvider/A.swift", "import Hardware", 1),
        ("Appliance/Audio/A.swift", "import Hardware\nimport VoiceCore", 0),
        ("Appliance/Audio/A.swift", "import struct Foundation.Data", 1),
    ]) func imports(path: String, source: String, faults: Int) {
        #expect(Rules.imports([file(path, source)]).count == faults)
    }

    @Test(arguments: [
        ("print(1)", 1),
        ("log.print(1)", 0),
        ("let a = Mutex(1)", 1),
        ("func f() async {}", 1),
        ("Task { }", 1),
        ("pthread_self()", 1),
        ("let now = ContinuousClock.now", 1),
        ("clock_gettime(CLOCK_MONOTONIC, &t)", 1),
        ("let n = Int.random(in: 0..<3)", 1),
        ("let n = Int.random(in: 0..<max(2, 3), using: &entropy)", 0),
        ("var clock: Int", 0),
        ("let text = \"Task \\(print(1)) Mutex\"", 1),
        ("/* Task /* Mutex */ await */ let a = #\"print(\"#", 0),
    ]) func purity(source: String, faults: Int) {
        #expect(Rules.purity([file("VoiceCore/RTP/A.swift", source)]).count == faults)
        #expect(Rules.purity([file("VoiceCore/Runtime/A.swift", source)]).isEmpty)
    }

    @Test(arguments: [
        ("VoiceCore/STUN", "let agent: ICEAgent", 1),
        ("VoiceCore/ICE", "let message: STUNMessage", 0),
        ("VoiceCore/RTP", "let message: STUNMessage", 1),
        ("VoiceCore/RTP", "let kind = Outer.STUNMessage()", 0),
        ("VoiceCore/RTP", "struct Outer { enum STUNMessage {} }; let a: STUNMessage", 0),
        ("VoiceCore/Base", "let thread: NetworkThread", 1),
        ("VoiceCore/Engine", "let state: PBVoiceState", 1),
        ("VoiceCore/Runtime", "let state: PBVoiceState", 0),
        ("VoiceCore/Runtime", "let voice: PBVoice", 1),
        ("VoiceCore/Voice", "let thread: NetworkThread", 0),
        ("Hardware/GPIO", "let journal: Journal", 1),
        ("Hardware/Systemd", "let journal: Journal", 0),
    ]) func layering(folder: String, source: String, faults: Int) {
        let others = [
            file("VoiceCore/ICE/ICEAgent.swift", "struct ICEAgent {}"),
            file("VoiceCore/STUN/STUNMessage.swift", "struct STUNMessage {}"),
            file("VoiceCore/Runtime/NetworkThread.swift", "final class NetworkThread {}"),
            file("VoiceCore/Voice/PBVoice.swift", "public final class PBVoice {}"),
            file("VoiceCore/Voice/PBVoiceState.swift", "public enum PBVoiceState {}"),
            file("Hardware/Systemd/Journal.swift", "struct Journal {}"),
        ]
        #expect(Rules.layering(others + [file("\(folder)/A.swift", source)]).count == faults)
    }

    @Test(arguments: [
        ("let a = b!", 1),
        ("let a = b()![1]!.c", 2),
        ("if !a, a != b, !(a) {}", 0),
        ("let a = x!=y", 0),
        ("let a = try! f()", 1),
        ("let a = b as! C", 1),
        ("fatalError(\"no\")", 1),
        ("unowned let a: A", 1),
        ("final class A: @unchecked Sendable {}", 1),
        ("nonisolated(unsafe) var a = 1", 1),
        ("let text = \"no!\" // b!", 0),
        ("// It was set in the line before, by us.\nlet a = b!", 0),
        ("// short\nlet a = b!", 1),
        ("// It was set in the line before, by us.\n\nlet a = b!", 1),
    ]) func proofs(source: String, faults: Int) {
        #expect(Rules.proofs([file("Appliance/A.swift", source)]).count == faults)
    }

    @Test func aLongFileNeedsAReason() {
        let long = file("Appliance/A.swift", String(repeating: "let a = 1\n", count: 350))
        #expect(Rules.length([long], reasons: [:]).isEmpty == false)
        #expect(Rules.length([long], reasons: ["Sources/Appliance/A.swift": "a table"]).isEmpty)
        let short = file("Appliance/A.swift", String(repeating: "let a = 1\n", count: 348))
        #expect(Rules.length([short], reasons: [:]).isEmpty)
    }

    @Test(arguments: [
        ("VoiceCore/Voice", "public struct A {}", 1),
        ("VoiceCore/Voice", "/// What it is.\npublic struct A {}", 0),
        ("VoiceCore/Voice", "/// What it is.\n@MainActor\npublic final class A {}", 0),
        ("VoiceCore/Voice", "@MainActor\npublic final class A {}", 1),
        ("VoiceCore/Voice", "public init(a: Int) {}", 0),
        ("VoiceCore/Voice", "public init(a: Int) throws(E) {}", 1),
        ("VoiceCore/Voice", "public var description: String { \"\" }", 0),
        ("VoiceCore/Voice", "public private(set) var a = 1", 1),
        ("VoiceCore/Voice", "/// What it is.\npublic private(set) var a = 1", 0),
        ("VoiceCore/Voice", "public static func == (a: A, b: A) -> Bool { true }", 0),
        ("VoiceCore/Voice", "package func f() {}", 1),
        ("Appliance/Log", "public func f() {}", 0),
    ]) func documentation(folder: String, source: String, faults: Int) {
        #expect(Rules.documentation([file("\(folder)/A.swift", source)]).count == faults)
    }
}
