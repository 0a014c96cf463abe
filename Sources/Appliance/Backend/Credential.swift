import Glibc

/// A secret in a file of its own, read anew each time it is used, so that a fresh one needs no restart.
///
/// Its value is in no description: errors name the file only.
struct Credential: Sendable {
    struct Account: Sendable {
        var user: String
        var password: String
    }

    /// The file's path.
    let path: String
    /// The config's key and its section, for errors.
    let key: String
    let section: String

    /// - Parameters:
    ///   - name: a file's name in `directory`, or an absolute path.
    /// - Throws: `credential` where a name has no directory to be looked for in.
    init(_ name: String, key: String, section: String = "backend", directory: String?) throws(BackendError) {
        self.key = key
        self.section = section
        if name.hasPrefix("/") {
            path = name
        } else if let directory, !directory.isEmpty {
            path = "\(directory)/\(name)"
        } else {
            throw BackendError(
                .credential,
                """
                The credential "\(name)" (key \(key) in [\(section)]) has no directory: start by systemd with \
                LoadCredential=\(name):FILE, set CREDENTIALS_DIRECTORY, or give an absolute path.
                """)
        }
    }

    /// The file's text without the white space around it.
    /// - Throws: `credential` where it cannot be read, is empty, larger than 64 KiB, or cannot be an HTTP header's value.
    func read() throws(BackendError) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unusable("cannot be opened (\(String(cString: strerror(errno))))") }
        defer { _ = Glibc.close(file) }
        var bytes = [UInt8](repeating: 0, count: 65_537)
        var count = 0
        while count < bytes.count {
            // The array is never empty, so that it has a base address.
            let got = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress! + count, $0.count - count) }
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw unusable("cannot be read (\(String(cString: strerror(errno))))") }
            if got == 0 { break }
            count += got
        }
        guard count < bytes.count else { throw unusable("is larger than 64 KiB") }
        let isBlank = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let text = bytes[..<count].drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        guard !text.isEmpty else { throw unusable("is empty") }
        // RFC 9110 5.5: visible characters and blanks; a line end would begin another header.
        guard text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw unusable("holds more than one line of text") }
        return String(decoding: text, as: UTF8.self)
    }

    /// What the file says where it is to hold USER:PASSWORD; a password may have colons in it (RFC 7617 2).
    /// - Throws: as `read`, and `credential` where there is no colon.
    func readAccount() throws(BackendError) -> Account {
        let text = try read()
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw BackendError(
                .credential,
                "The credential file \(path) (key \(key) in [\(section)]) names no user before a colon: write USER:PASSWORD."
            )
        }
        return Account(user: String(text[..<colon]), password: String(text[colon...].dropFirst()))
    }

    private func unusable(_ why: String) -> BackendError {
        BackendError(
            .credential, "The credential file \(path) (key \(key) in [\(section)]) \(why): put the secret into it.")
    }
}
