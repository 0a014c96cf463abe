import Glibc

@testable import Appliance

extension BackendSettings {
    static func test(_ server: TestServer) -> BackendSettings {
        BackendSettings(url: "\(server.url)/voice/{chat}", chat: "lobby", timeout: .seconds(300))
    }
}

/// A file with a secret, gone with its owner.
final class CredentialFile {
    let path: String

    init(_ text: String) {
        var template = Array("/tmp/talkpost-test-XXXXXX".utf8CString)
        let file = mkstemp(&template)
        close(file)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        write(text)
    }

    deinit {
        unlink(path)
    }

    func write(_ text: String) { Self.write(text, to: path) }

    static func write(_ text: String, to path: String) {
        let file = open(path, O_WRONLY | O_TRUNC)
        var bytes = Array(text.utf8)
        _ = Glibc.write(file, &bytes, bytes.count)
        close(file)
    }
}

/// An empty directory, gone with its owner, and with it the files that the backend keeps.
final class ScratchDirectory: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/talkpost-test-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in ["open-voices", "refresh-token", "server.pem", "client.pem", "ca.pem"] { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    /// The permissions of a file; nil where there is none.
    func mode(of name: String) -> mode_t? {
        var status = stat()
        return stat("\(path)/\(name)", &status) == 0 ? status.st_mode & 0o777 : nil
    }

    func text(of name: String) -> String? {
        SmallFile.read("\(path)/\(name)", byteLimit: 1 << 20).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// What `body` throws, where that is a backend's error.
func backendError(_ body: () async throws -> Void) async -> BackendError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? BackendError
    }
}

let goodAnswer = #"{"id":"voice-1","sdp":"v=0\r\no=- 1 1 IN IP4 192.0.2.1\r\n"}"#
