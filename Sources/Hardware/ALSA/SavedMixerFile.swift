import Glibc

/// The file that `SavedMixer` stands in. A value; whoever holds the mixer uses it, never on main while a voice is open.
struct SavedMixerFile: Sendable {
    private let directory: String
    private let path: String
    /// Where the file lies while nothing is to be put back: the next voice that finds the same values takes it from there, and
    /// need not wait for the disk.
    private let asidePath: String

    /// - Parameter directory: must be there.
    init(directory: String) {
        self.directory = directory
        path = "\(directory)/mixer"
        asidePath = "\(directory)/mixer.aside"
    }

    /// What stands there; nil where nothing does, or nothing that can be read.
    func read() -> SavedMixer? { bytes(path).flatMap { SavedMixer($0) } }

    private func bytes(_ path: String) -> [UInt8]? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: SavedMixer.byteLimit + 1)
        let count = fread(&bytes, 1, bytes.count, file)
        return ferror(file) == 0 ? Array(bytes[..<count]) : nil
    }

    /// Puts it on disk whole or not at all: it is there when this returns, also after a power cut.
    /// - Returns: nil, or why it could not be written.
    func write(_ saved: SavedMixer) -> String? {
        let content = saved.bytes
        if bytes(asidePath) == content, rename(asidePath, path) == 0 { return nil }
        let new = "\(path).new"
        // What lies there is of a start that was cut off, or a link that somebody laid.
        unlink(new)
        guard let file = fopen(new, "wxe") else { return reason(new) }
        let isWritten =
            fwrite(content, 1, content.count, file) == content.count && fflush(file) == 0 && fsync(fileno(file)) == 0
        let failure = isWritten ? nil : reason(new)
        guard fclose(file) == 0, failure == nil else { return failure ?? reason(new) }
        guard rename(new, path) == 0 else { return reason(path) }
        synchronizeDirectory()
        return nil
    }

    /// Puts it aside: all is put back.
    func retire() {
        rename(path, asidePath)
    }

    private func synchronizeDirectory() {
        guard let folder = opendir(directory) else { return }
        fsync(dirfd(folder))
        closedir(folder)
    }

    private func reason(_ path: String) -> String { "\(path): \(String(cString: strerror(errno)))" }
}
