internal import COpenSSL

/// The key of the long-term credential mechanism (RFC 8489 9.2.2), and what a message is signed with by it.
///
/// A value of the TURN client's. It signs a few messages a minute, so that a hash may use the heap. SASLprep and the
/// OpaqueString profile are left out: credentials of other than ASCII letters are sent as they are.
struct STUNLongTermKey: Sendable {
    /// RFC 8489 18.5.1.
    enum Algorithm: UInt16, Sendable {
        case md5 = 1
        case sha256 = 2
    }

    let algorithm: Algorithm
    /// For MESSAGE-INTEGRITY, which every server knows.
    let integrity: STUNKey
    private let bytes: [UInt8]

    /// Nil where OpenSSL refuses the algorithm, as it does MD5 in FIPS mode.
    init?(username: String, realm: [UInt8], password: String, algorithm: Algorithm) {
        let text = Array(username.utf8) + [UInt8(ascii: ":")] + realm + [UInt8(ascii: ":")] + Array(password.utf8)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let kind = algorithm == .md5 ? EVP_md5() : EVP_sha256()
        guard EVP_Digest(text, text.count, &digest, &count, kind, nil) == 1 else { return nil }
        self.algorithm = algorithm
        bytes = Array(digest.prefix(Int(count)))
        integrity = STUNKey(bytes: bytes)
    }

    /// The 32 bytes of a MESSAGE-INTEGRITY-SHA256 (RFC 8489 14.6).
    /// - Parameters:
    ///   - message: the bytes from the header up to where the attribute begins.
    ///   - length: what the header's length field is to read meanwhile: up to and with the attribute.
    func sha256Tag(of message: UnsafeRawBufferPointer, withLength length: UInt16) -> [UInt8] {
        var covered = [UInt8](message)
        guard covered.count >= 4 else { return [] }
        covered[2] = UInt8(length >> 8)
        covered[3] = UInt8(length & 0xFF)
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        guard HMAC(EVP_sha256(), bytes, Int32(bytes.count), covered, covered.count, &digest, &count) != nil else {
            return []
        }
        return Array(digest.prefix(Int(count)))
    }
}
