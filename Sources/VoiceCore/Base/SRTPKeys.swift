/// The keys that DTLS hands to SRTP (RFC 5764 4.2), already told apart by who uses them.
struct SRTPKeys: Sendable {
    /// The protection profiles offered, in the order of preference (RFC 5764 4.1.2, RFC 7714 14.2).
    enum Profile: String, CaseIterable, Sendable {
        case aeadAES128GCM = "SRTP_AEAD_AES_128_GCM"
        case aes128CMSHA1_80 = "SRTP_AES128_CM_SHA1_80"

        /// Every profile here has a master key of 16 bytes.
        var keyByteCount: Int { 16 }

        var saltByteCount: Int {
            switch self {
            case .aeadAES128GCM: 12
            case .aes128CMSHA1_80: 14
            }
        }
    }

    var profile: Profile
    /// Master key and salt, one after the other, of what we send.
    var local: [UInt8]
    /// Master key and salt, one after the other, of what we receive.
    var remote: [UInt8]
}
