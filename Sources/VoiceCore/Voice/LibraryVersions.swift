/// The C libraries that voices run on, for `--version` and bug reports.
package enum LibraryVersions {
    /// Name and version of each, as the library itself says it.
    package static var all: [String] {
        [
            DTLSIdentity.libraryVersion, opusVersion(), SRTPLibrary.version,
            "audio processing \(AudioProcessor.libraryVersion)",
        ]
    }
}
