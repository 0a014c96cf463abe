/// The hash of a certificate as a=fingerprint carries it (RFC 8122 5).
struct Fingerprint: Hashable, Sendable {
    enum Algorithm: String, CaseIterable, Sendable {
        case sha256 = "sha-256"
        case sha384 = "sha-384"
        case sha512 = "sha-512"

        var byteCount: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    var algorithm: Algorithm
    /// `algorithm.byteCount` bytes.
    var digest: [UInt8]
}

/// Who opens the DTLS handshake (a=setup, RFC 8842 5).
enum SetupRole: String, Sendable {
    case active
    case passive
    case actpass
}
