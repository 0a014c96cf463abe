import Dispatch
import Glibc
import VoiceCore

/// Offers `Captions` on a local socket, a line of JSON each, to any number of readers up to a few. Lives on the main actor.
///
/// Never blocks: a reader that does not keep up is let go of. Nothing is kept of what was said but what is on its way.
@MainActor
final class CaptionSocket: HappeningWatcher {
    private let path: String
    private let listener: Int32
    private var source: (any DispatchSourceRead)?
    private var readers: [Int32] = []
    private var captions = Captions()

    /// One screen is the rule.
    private static let readerLimit = 4

    /// Why there is no socket: a sentence with its cure.
    struct Unusable: Error {
        var sentence: String
    }

    /// - Parameter path: where the socket is to be; one that an earlier run left there is replaced.
    /// - Throws: `Unusable` where it cannot be made.
    init(path: String) throws(Unusable) {
        self.path = path
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard listener >= 0, Self.bind(listener, to: path), chmod(path, 0o660) == 0,
            listen(listener, Int32(Self.readerLimit)) == 0
        else {
            let reason = String(cString: strerror(errno))
            if listener >= 0 { close(listener) }
            throw Unusable(
                sentence: "The captions' socket \(path) cannot be made: \(reason). Name another in [captions] socket.")
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: listener, queue: .main)
        // Dispatch calls it on the main queue, which is the main actor's.
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.acceptReaders() } }
        source.resume()
        self.source = source
    }

    func saw(_ happening: Happening, at instant: Instant) {
        for line in captions.take(happening) { send(line) }
    }

    /// Lets everybody go and takes the socket away.
    func finish() {
        source?.cancel()
        source = nil
        for reader in readers { close(reader) }
        readers = []
        close(listener)
        unlink(path)
    }

    private func acceptReaders() {
        while true {
            let reader = accept(listener, nil, nil)
            guard reader >= 0 else { return }
            _ = fcntl(reader, F_SETFD, FD_CLOEXEC)
            _ = fcntl(reader, F_SETFL, O_NONBLOCK)
            if readers.count == Self.readerLimit { close(readers.removeFirst()) }
            readers.append(reader)
            if let state = captions.state { send(state, to: [reader]) }
        }
    }

    private func send(_ line: JSONValue) {
        send(line, to: readers)
    }

    /// Whoever cannot take the whole line now has left, or does not keep up.
    private func send(_ line: JSONValue, to some: [Int32]) {
        guard !some.isEmpty else { return }
        let bytes = line.encoded + [UInt8(ascii: "\n")]
        for reader in some {
            let sent = bytes.withUnsafeBytes {
                Glibc.send(reader, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent != bytes.count else { continue }
            close(reader)
            readers.removeAll { $0 == reader }
        }
    }

    /// Only a socket is ever removed from the place.
    private static func bind(_ descriptor: Int32, to path: String) -> Bool {
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK { unlink(path) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isWritten = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard bytes.count < place.count else { return false }
            place.copyBytes(from: bytes)
            return true
        }
        guard isWritten else {
            errno = ENAMETOOLONG
            return false
        }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }
}
