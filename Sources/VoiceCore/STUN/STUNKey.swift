internal import COpenSSL

/// The 20 bytes of a MESSAGE-INTEGRITY, as numbers so that they need no storage of their own.
struct STUNTag: Sendable {
    var first: UInt64
    var second: UInt64
    var third: UInt32

    /// Takes the same time whatever the bytes are, so that a stranger cannot find a tag byte by byte.
    func matches(_ other: STUNTag) -> Bool {
        (first ^ other.first) | (second ^ other.second) | UInt64(third ^ other.third) == 0
    }
}

/// The key of a MESSAGE-INTEGRITY: HMAC-SHA1 (RFC 2104, RFC 8489 14.5) with the key already worked in.
///
/// Owned by the ICE agent, two of them: one for the local password, one for the remote one. It never allocates after init, and
/// costs one hash over the message and one over 20 bytes. SASLprep is left out: ICE passwords are ice-chars, on which it does nothing.
struct STUNKey: Sendable {
    /// SHA-1 after the block key xor ipad, and after key xor opad.
    private let inner: SHA_CTX
    private let outer: SHA_CTX

    /// The short-term key of a password (RFC 8489 9.1.1).
    init(password: String) {
        self.init(bytes: Array(password.utf8))
    }

    init(bytes: [UInt8]) {
        var block = bytes
        if block.count > Self.blockByteCount {  // RFC 2104 2
            var state = SHA_CTX()
            talkpost_sha1_start(&state)
            talkpost_sha1_add(&state, bytes, bytes.count)
            block = [UInt8](repeating: 0, count: Self.digestByteCount)
            talkpost_sha1_finish(&state, &block)
        }
        block += [UInt8](repeating: 0, count: Self.blockByteCount - block.count)
        inner = Self.state(after: block.map { $0 ^ 0x36 })
        outer = Self.state(after: block.map { $0 ^ 0x5C })
    }

    /// The tag of a message.
    /// - Parameters:
    ///   - message: the bytes from the header up to where MESSAGE-INTEGRITY begins, at least 4.
    ///   - length: what the header's length field is to read meanwhile: up to and with MESSAGE-INTEGRITY (RFC 8489 14.5).
    func tag(of message: UnsafeRawBufferPointer, withLength length: UInt16) -> STUNTag {
        guard let start = message.baseAddress, message.count >= 4 else { return STUNTag(first: 0, second: 0, third: 0) }
        var state = inner
        var lengthField = length.bigEndian
        talkpost_sha1_add(&state, start, 2)
        talkpost_sha1_add(&state, &lengthField, 2)
        talkpost_sha1_add(&state, start + 4, message.count - 4)
        var digest: Digest = (0, 0, 0, 0, 0)
        Self.finish(&state, into: &digest)
        state = outer
        talkpost_sha1_add(&state, &digest, Self.digestByteCount)
        Self.finish(&state, into: &digest)
        return STUNTag(
            first: UInt64(UInt32(bigEndian: digest.0)) << 32 | UInt64(UInt32(bigEndian: digest.1)),
            second: UInt64(UInt32(bigEndian: digest.2)) << 32 | UInt64(UInt32(bigEndian: digest.3)),
            third: UInt32(bigEndian: digest.4))
    }

    /// 20 bytes as they stand in memory.
    private typealias Digest = (UInt32, UInt32, UInt32, UInt32, UInt32)

    private static let blockByteCount = 64
    private static let digestByteCount = 20

    private static func state(after block: [UInt8]) -> SHA_CTX {
        var state = SHA_CTX()
        talkpost_sha1_start(&state)
        talkpost_sha1_add(&state, block, block.count)
        return state
    }

    private static func finish(_ state: inout SHA_CTX, into digest: inout Digest) {
        withUnsafeMutableBytes(of: &digest) { raw in
            guard let start = raw.baseAddress else { return }
            talkpost_sha1_finish(&state, start.assumingMemoryBound(to: UInt8.self))
        }
    }
}
