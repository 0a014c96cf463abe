/// Cuts a stream of bytes into the datagrams that it carries: by the length before each (RFC 4571 2), or as a TURN server's
/// stream has them (RFC 8656 12.5, RFC 8489 6.2.2).
///
/// Bytes in, datagrams out; it is told nothing of connections. It keeps one unfinished datagram and what came with it, and nothing that
/// a peer sends makes it grow: one longer than a datagram can be here is passed over without being kept.
struct FrameReader: Sendable {
    enum Kind: Sendable {
        /// Two bytes of length, then as many bytes.
        case lengthBefore
        /// STUN messages and ChannelData, the latter padded to 4 bytes.
        case turn
    }

    /// Why no more can be read: the bytes are of another protocol.
    struct Unreadable: Error {}

    /// The longest datagram that is handed on. Nothing here is sent in longer ones, DTLS's records least of all.
    static let largest = 4_096

    private let kind: Kind
    private var kept: [UInt8] = []
    private var start = 0
    /// How much of a frame that is too long is still to come.
    private var passing = 0

    init(_ kind: Kind) {
        self.kind = kind
        kept.reserveCapacity(Self.largest * 2)
    }

    /// Adds what came. Take all datagrams out before adding more: then the bytes kept are fewer than one datagram.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        let skipped = min(passing, bytes.count)
        passing -= skipped
        if start > 0 {
            kept.removeFirst(start)
            start = 0
        }
        kept.append(contentsOf: bytes[skipped...])
    }

    /// The next datagram, copied into `buffer`, which has `largest` bytes.
    /// - Returns: its byte count; nil where it is not all there yet.
    /// - Throws: `Unreadable`; the connection is of no use any more.
    mutating func next(into buffer: UnsafeMutableRawBufferPointer) throws(Unreadable) -> Int? {
        while let frame = try frame() {
            let available = kept.count - start
            guard frame.skipped + frame.count <= Self.largest, frame.count <= buffer.count else {
                passing = max(0, frame.whole - available)
                start += min(frame.whole, available)
                continue
            }
            guard available >= frame.whole else { return nil }
            kept.withUnsafeBytes { bytes in
                let from = start + frame.skipped
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[from..<from + frame.count]))
            }
            start += frame.whole
            return frame.count
        }
        return nil
    }

    /// The frame that begins here: what stands before its datagram, the datagram, and all of it with its padding.
    private func frame() throws(Unreadable) -> (skipped: Int, count: Int, whole: Int)? {
        guard kept.count - start >= (kind == .lengthBefore ? 2 : 4) else { return nil }
        let first = Int(kept[start]) << 8 | Int(kept[start + 1])
        switch kind {
        case .lengthBefore:
            return (2, first, first + 2)
        case .turn:
            let length = Int(kept[start + 2]) << 8 | Int(kept[start + 3])
            switch first >> 14 {
            case 0: return (0, 20 + length, 20 + length)
            case 1: return (0, 4 + length, 4 + (length + 3) & ~3)
            default: throw Unreadable()
            }
        }
    }
}
