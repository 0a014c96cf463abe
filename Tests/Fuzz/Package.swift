// swift-tools-version: 6.0
import PackageDescription

/// One libFuzzer program per parser; `./run TARGET` builds and runs one.
///
/// A package of its own, because the whole of VoiceCore is compiled anew with coverage, and libFuzzer brings the main function:
/// `run` gives the compiler flags, since a manifest cannot give any to the package it depends on.
let programs = ["SDP", "STUN", "TURN", "Stream", "RTP", "RTCP", "SCTP", "ServerURL"]
/// SwiftPM calls the package that this one depends on by its folder's name; the parsers see of VoiceCore what the appliance does.
let isOfItsPackage = SwiftSetting.unsafeFlags([
    "-package-name", String(Context.packageDirectory.split(separator: "/").dropLast(2).last ?? "talkpost").lowercased(),
])
/// The appliance is a program, which no other can be built of: its parsers are linked to from `Parsers`.
let applianceParsers = ["Config", "Link", "WebAddress"]

let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "talkpost", path: "../..")],
    targets: [
        .target(
            name: "Parsers",
            dependencies: [
                .product(name: "VoiceCore", package: "talkpost"), .product(name: "Hardware", package: "talkpost"),
            ], exclude: ["Config/ConfigFile.swift"], packageAccess: false,
            swiftSettings: [isOfItsPackage])
    ]
        + (programs + applianceParsers).map { program in
            .executableTarget(
                name: "Fuzz\(program)",
                dependencies: [.product(name: "VoiceCore", package: "talkpost")]
                    + (applianceParsers.contains(program) ? ["Parsers"] : []),
                path: "Sources/\(program)", packageAccess: false,
                swiftSettings: [.unsafeFlags(["-parse-as-library"]), isOfItsPackage])
        },
    swiftLanguageModes: [.v6]
)
