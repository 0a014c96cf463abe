import Glibc

/// Reads the small text files of /proc and /sys. Does not wait: the kernel makes them up on the spot.
enum KernelFile {
    /// The first 4 KiB; nil where it cannot be read.
    static func read(_ path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
            let count = fread(bytes.baseAddress, 1, bytes.count, file)
            guard ferror(file) == 0 else { return nil }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
    }
}
