// swift-tools-version: 6.0
import Foundation
import PackageDescription

// Cross builds name the target's root; its libraries are then found by the module maps' own link names.
let sysroot = ProcessInfo.processInfo.environment["TALKPOST_SYSROOT"]

/// Debian 12 has webrtc-audio-processing 0.3, Debian 13 has 1.3 under another name; whichever is installed is used.
let audioProcessingLibrary: String = {
    let roots = ["/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/share"]
    let isNewer = roots.contains {
        FileManager.default.fileExists(atPath: "\(sysroot ?? "")\($0)/pkgconfig/webrtc-audio-processing-1.pc")
    }
    return isNewer ? "webrtc-audio-processing-1" : "webrtc_audio_processing"
}()

/// Not by pkg-config: on Debian 13 its file names a hundred others, and SwiftPM reads them for 24 s at each command.
/// The header folders are links inside the package, because only those are allowed to a package that others depend on.
let audioProcessingSettings: [CXXSetting] =
    sysroot.map {
        [
            .unsafeFlags([
                "-I\($0)/usr/include/webrtc-audio-processing-1", "-I\($0)/usr/include/webrtc_audio_processing",
            ])
        ]
    } ?? [
        .headerSearchPath("../SystemHeaders/audio-processing-1"),
        .headerSearchPath("../SystemHeaders/audio-processing-0"),
    ]

let package = Package(
    name: "talkpost",
    products: [
        .executable(name: "talkpost", targets: ["Appliance"]),
        .executable(name: "talkpost-provider", targets: ["DemoProvider"]),
        .library(name: "VoiceCore", targets: ["VoiceCore"]),
        .library(name: "Hardware", targets: ["Hardware"]),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", path: "Sources/VoiceCore/CLibraries/COpenSSL"),
        .systemLibrary(name: "COpus", path: "Sources/VoiceCore/CLibraries/COpus"),
        .systemLibrary(name: "CSRTP", path: "Sources/VoiceCore/CLibraries/CSRTP"),
        .systemLibrary(name: "CJansson", path: "Sources/VoiceCore/CLibraries/CJansson"),
        .systemLibrary(name: "CLinux", path: "Sources/VoiceCore/CLibraries/CLinux"),
        .target(
            name: "CAudioProcessing", path: "Sources/VoiceCore/CLibraries/CAudioProcessing",
            cxxSettings: audioProcessingSettings, linkerSettings: [.linkedLibrary(audioProcessingLibrary)]),
        .target(
            name: "VoiceCore",
            dependencies: ["COpenSSL", "COpus", "CSRTP", "CJansson", "CLinux", "CAudioProcessing"],
            exclude: ["CLibraries"]),

        .systemLibrary(name: "CALSA", path: "Sources/Hardware/CLibraries/CALSA"),
        .systemLibrary(name: "CSpeexDSP", path: "Sources/Hardware/CLibraries/CSpeexDSP"),
        .systemLibrary(name: "CSystemd", path: "Sources/Hardware/CLibraries/CSystemd"),
        .systemLibrary(name: "CGPIO", path: "Sources/Hardware/CLibraries/CGPIO"),
        .target(name: "Hardware", dependencies: ["CALSA", "CGPIO", "CSpeexDSP", "CSystemd"], exclude: ["CLibraries"]),

        .systemLibrary(name: "CCurl", path: "Sources/Appliance/CLibraries/CCurl"),
        .executableTarget(
            name: "Appliance", dependencies: ["VoiceCore", "Hardware", "CCurl", "CLinux"], exclude: ["CLibraries"]),

        .systemLibrary(name: "CMicroHTTPD", path: "Sources/DemoProvider/CLibraries/CMicroHTTPD"),
        .executableTarget(
            name: "DemoProvider", dependencies: ["VoiceCore", "CMicroHTTPD"], exclude: ["CLibraries"]),

        .target(name: "CVirtualTime", path: "Tests/Support/CVirtualTime"),
        .target(
            name: "Support", dependencies: ["VoiceCore", "CVirtualTime", "COpenSSL"], path: "Tests/Support",
            exclude: ["CVirtualTime", "Python", "install", "lint", "packages", "release", "suite"]),
        .testTarget(name: "VoiceCoreTests", dependencies: ["VoiceCore", "Support", "COpenSSL"]),
        .testTarget(name: "HardwareTests", dependencies: ["Hardware"]),
        .testTarget(name: "ApplianceTests", dependencies: ["Appliance", "Support", "COpenSSL"]),
        .testTarget(name: "ArchitectureTests"),
        .testTarget(name: "DemoProviderTests", dependencies: ["DemoProvider"]),
        .testTarget(name: "Scenarios", dependencies: ["VoiceCore", "Support"], path: "Tests/Scenarios"),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
