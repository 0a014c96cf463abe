internal import CSystemd
import Glibc

/// The system's journal, as sd-journal(3) writes to it. Owns nothing; from any thread.
public enum Journal {
    /// Whether standard error is connected to the journal: systemd started the program and reads its lines.
    ///
    /// JOURNAL_STREAM holds the device and inode of that connection; a program that was started by hand from such a service
    /// inherits the variable but not the connection (systemd.exec(5)).
    public static var isStandardError: Bool {
        guard let value = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return false }
        return String(cString: value) == "\(status.st_dev):\(status.st_ino)"
    }

    /// Sends one message; where there is no journal it is lost, as the sender can do nothing about it.
    /// - Parameters:
    ///   - priority: as syslog counts, 0 to 7.
    ///   - messageID: 32 hexadecimal digits by which the journal's catalog explains the message (sd-journal(3)); nil: it does not.
    public static func send(_ message: String, priority: Int, messageID: String? = nil) {
        var fields = [("MESSAGE", message), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", "talkpost")]
        if let messageID { fields.append(("MESSAGE_ID", messageID)) }
        send(fields: fields)
    }

    private static func send(fields: [(String, String)]) {
        let texts = fields.map { Array("\($0)=\($1)".utf8) }
        let total = texts.reduce(0) { $0 + $1.count }
        withUnsafeTemporaryAllocation(byteCount: total, alignment: 1) { bytes in
            var parts: [iovec] = []
            var offset = 0
            for text in texts {
                let part = UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + text.count])
                part.copyBytes(from: text)
                parts.append(iovec(iov_base: part.baseAddress, iov_len: part.count))
                offset += text.count
            }
            _ = sd_journal_sendv(parts, Int32(parts.count))
        }
    }
}
