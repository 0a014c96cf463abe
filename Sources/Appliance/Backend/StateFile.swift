import Glibc

/// A small file in the state directory, for its owner alone. The backend thread alone writes it.
struct StateFile: Sendable {
    let directory: String
    let name: String

    /// More than anything that is kept.
    static let byteLimit = 1 << 18

    private var path: String { "\(directory)/\(name)" }

    /// nil where there is none that can be read.
    func read() -> [UInt8]? { SmallFile.read(path, byteLimit: Self.byteLimit) }

    /// Puts it on disk whole or not at all: it is there when this returns, also after a power cut. Nothing: takes it away.
    /// - Returns: nil, or why it could not be written.
    func write(_ bytes: [UInt8]) -> String? {
        if bytes.isEmpty {
            guard unlink(path) == 0 || errno == ENOENT else { return reason(path) }
            synchronizeDirectory()
            return nil
        }
        let new = "\(path).new"
        // What lies there is of a start that was cut off, or a link that somebody laid.
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return reason(new) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        let failure = rest.isEmpty && fsync(file) == 0 ? nil : reason(new)
        guard close(file) == 0, failure == nil else { return failure ?? reason(new) }
        guard rename(new, path) == 0 else { return reason(path) }
        synchronizeDirectory()
        return nil
    }

    private func synchronizeDirectory() {
        guard let folder = opendir(directory) else { return }
        fsync(dirfd(folder))
        closedir(folder)
    }

    private func reason(_ path: String) -> String { "\(path): \(String(cString: strerror(errno)))" }
}
