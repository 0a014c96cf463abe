// swift-tools-version: 6.0
import PackageDescription

/// One libFuzzer program per parser; `./run TARGET` builds and runs one.
///
/// A package of its own, because the whole of VoiceCore is compiled anew with coverage, and libFuzzer brings the main function:
/// `run` gives the compiler flags, since a manifest cannot give any to the package it depends on.
let programs = ["SDP", "STUN", "TURN", "Stream", "RTP", "RTCP", "SCTP", "Config"]

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "talkpost", path: "../..")],
    targets: programs.map { program in
        .executableTarget(
            name: "Fuzz\(program)", dependencies: [.product(name: "VoiceCore", package: "talkpost")],
            path: "Sources/\(program)", swiftSettings: [.unsafeFlags(["-parse-as-library"])])
    },
    swiftLanguageModes: [.v6]
)
