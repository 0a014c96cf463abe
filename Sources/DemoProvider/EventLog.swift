import Glibc
import Synchronization
import VoiceCore

/// Where events go: JSON lines for programs, and a sentence each for whoever looks on. Any thread but a sound thread writes.
final class EventLog: Sendable {
    private let file: Int32?
    private let showsSentences: Bool
    private let lock = Mutex(())

    /// - Parameter path: where the JSON lines go; "-" is standard output, which then has no sentences; nil: nowhere.
    /// - Returns: nil where the file cannot be written.
    init?(path: String?) {
        showsSentences = path != "-"
        switch path {
        case nil: file = nil
        case "-": file = STDOUT_FILENO
        case let path?:
            let opened = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o644)
            guard opened >= 0 else { return nil }
            file = opened
        }
    }

    deinit {
        if let file, file != STDOUT_FILENO { close(file) }
    }

    func write(_ event: String, _ members: [String: JSONValue] = [:], at instant: Instant = .now(), _ sentence: String)
    {
        if let file {
            var members = members
            members["at"] = .number((Double(instant.nanoseconds) / 1e3).rounded() / 1e6)
            members["event"] = .text(event)
            line(JSONValue.object(members).encoded, to: file)
        }
        if showsSentences { line(Array(sentence.utf8), to: STDOUT_FILENO) }
    }

    private func line(_ text: [UInt8], to file: Int32) {
        var bytes = text + [UInt8(ascii: "\n")]
        lock.withLock { _ in _ = Glibc.write(file, &bytes, bytes.count) }  // a full disk loses a line of a demo
    }
}

extension Instant {
    /// CLOCK_MONOTONIC now.
    static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)  // cannot fail for this clock
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
