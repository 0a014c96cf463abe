import Glibc
import Synchronization

/// The terminal on standard error: lines that stay, and below them one live line that is drawn anew in place.
///
/// Shared by the log and the terminal's LED, from any thread. Where standard error is no terminal, there is no live line.
final class Console: Sendable {
    let isTerminal: Bool
    private let descriptor: Int32
    private let liveLine = Mutex("")

    init(descriptor: Int32 = STDERR_FILENO) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
    }

    /// Writes a line that stays, above the live line.
    func write(line: String) {
        liveLine.withLock { live in
            put(live.isEmpty ? "\(line)\n" : "\(Self.clearLine)\(line)\n\(live)")
        }
    }

    /// Draws the live line; an empty one takes it away.
    func draw(live line: String) {
        guard isTerminal else { return }
        liveLine.withLock { live in
            guard line != live else { return }
            live = line
            put(Self.clearLine + line)
        }
    }

    /// Carriage return, and erase to the line's end (ECMA-48 8.3.41).
    private static let clearLine = "\r\u{1B}[K"

    private func put(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                // A console that takes nothing is no reason to stop: the line is lost.
                guard count > 0 || errno == EINTR else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[max(0, count)...])
            }
        }
    }
}
