import VoiceCore

/// What `talkpost --version` prints.
enum Versions {
    static let talkpost = "0.1.0"

    /// A line for the program and one for each library, as loaded now.
    static var text: String {
        let libraries = LibraryVersions.all + ["libcurl \(CurlLibrary.version)"]
        return (["talkpost \(talkpost)"] + libraries).joined(separator: "\n")
    }
}
