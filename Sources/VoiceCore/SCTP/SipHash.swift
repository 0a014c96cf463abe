/// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of short inputs, what signs our state cookies.
///
/// RFC 9260 5.1.3 leaves the choice to whoever makes the cookie. 64 bits are enough here: only a peer that DTLS has authenticated can
/// send one at all, and a cookie lives for seconds.
struct SipHash {
    private let key: (UInt64, UInt64)

    init(key: (UInt64, UInt64)) {
        self.key = key
    }

    init(from entropy: inout Entropy) {
        key = (entropy.next(), entropy.next())
    }

    func tag(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var state = State(
            v0: key.0 ^ 0x736F_6D65_7073_6575, v1: key.1 ^ 0x646F_7261_6E64_6F6D,
            v2: key.0 ^ 0x6C79_6765_6E65_7261, v3: key.1 ^ 0x7465_6462_7974_6573)
        var offset = 0
        while bytes.count - offset >= 8 {
            state.add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        for index in offset..<bytes.count { last |= UInt64(bytes[index]) << UInt64(8 * (index - offset)) }
        state.add(last)
        state.v2 ^= 0xFF
        for _ in 0..<4 { state.round() }
        return state.v0 ^ state.v1 ^ state.v2 ^ state.v3
    }

    private struct State {
        var v0, v1, v2, v3: UInt64

        mutating func add(_ word: UInt64) {
            v3 ^= word
            round()
            round()
            v0 ^= word
        }

        /// All additions are modulo 2^64.
        mutating func round() {
            v0 = v0 &+ v1
            v1 = (v1 << 13 | v1 >> 51) ^ v0
            v0 = v0 << 32 | v0 >> 32
            v2 = v2 &+ v3
            v3 = (v3 << 16 | v3 >> 48) ^ v2
            v0 = v0 &+ v3
            v3 = (v3 << 21 | v3 >> 43) ^ v0
            v2 = v2 &+ v1
            v1 = (v1 << 17 | v1 >> 47) ^ v2
            v2 = v2 << 32 | v2 >> 32
        }
    }
}
