/// The attribute types of RFC 8489 18.3 and RFC 8445 20.1 that a connectivity check may carry.
///
/// REALM, NONCE, PASSWORD-ALGORITHM and USERHASH are not among them: they belong to the long-term credentials of TURN
/// (`TURNAttribute`), and in a check they are unknown as RFC 8489 14 has it.
enum STUNAttribute {
    static let mappedAddress: UInt16 = 0x0001
    static let username: UInt16 = 0x0006
    static let messageIntegrity: UInt16 = 0x0008
    static let errorCode: UInt16 = 0x0009
    static let unknownAttributes: UInt16 = 0x000A
    static let messageIntegritySHA256: UInt16 = 0x001C
    static let xorMappedAddress: UInt16 = 0x0020
    static let priority: UInt16 = 0x0024
    static let useCandidate: UInt16 = 0x0025
    static let fingerprint: UInt16 = 0x8028
    static let iceControlled: UInt16 = 0x8029
    static let iceControlling: UInt16 = 0x802A

    /// Types below this one must be understood by who receives them (RFC 8489 14).
    static let firstOptional: UInt16 = 0x8000
}

/// The error codes an ICE agent gives or understands (RFC 8489 14.8, RFC 8445 20.2).
enum STUNErrorCode {
    static let unknownAttribute: UInt16 = 420
    static let roleConflict: UInt16 = 487
}

/// The 96 bits that join a response to its request (RFC 8489 5).
struct STUNTransactionID: Hashable, Sendable {
    var high: UInt64
    var low: UInt32

    init(high: UInt64, low: UInt32) {
        self.high = high
        self.low = low
    }

    /// A fresh one, which nobody off the path can guess.
    init(from entropy: inout Entropy) {
        high = entropy.next()
        low = UInt32(truncatingIfNeeded: entropy.next())
    }
}

/// The fixed parts of every STUN message.
enum STUNHeader {
    // RFC 8489 5
    static let byteCount = 20
    static let magicCookie: UInt32 = 0x2112_A442
    /// The one method ICE uses (RFC 8489 18.2).
    static let binding: UInt16 = 1
}
