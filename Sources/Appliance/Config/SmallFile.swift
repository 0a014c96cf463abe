import Glibc

/// Reads a file whole, up to a limit. Blocks: at start only, never on main while a voice is open.
enum SmallFile {
    /// - Returns: nil where it cannot be read, with the reason in `errno`; EFBIG where it is larger than `byteLimit`.
    static func read(_ path: String, byteLimit: Int) -> [UInt8]? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            bytes += chunk[..<count]
            guard bytes.count <= byteLimit else {
                errno = EFBIG
                return nil
            }
            if count < chunk.count {
                guard ferror(file) == 0 else { return nil }
                return bytes
            }
        }
    }
}
