/// The methods of TURN (RFC 8656 17).
enum TURNMethod {
    static let allocate: UInt16 = 3
    static let refresh: UInt16 = 4
    static let send: UInt16 = 6
    static let data: UInt16 = 7
    static let createPermission: UInt16 = 8
    static let channelBind: UInt16 = 9
}

/// The attribute types of RFC 8656 18, and those of RFC 8489 18.3 that belong to long-term credentials.
enum TURNAttribute {
    static let channelNumber: UInt16 = 0x000C
    static let lifetime: UInt16 = 0x000D
    static let peerAddress: UInt16 = 0x0012
    static let data: UInt16 = 0x0013
    static let realm: UInt16 = 0x0014
    static let nonce: UInt16 = 0x0015
    static let relayedAddress: UInt16 = 0x0016
    static let requestedTransport: UInt16 = 0x0019
    static let passwordAlgorithm: UInt16 = 0x001D
    static let additionalAddressFamily: UInt16 = 0x8000
    static let passwordAlgorithms: UInt16 = 0x8002
}

/// The error codes that the client acts on (RFC 8489 14.8, RFC 8656 19).
enum TURNErrorCode {
    static let tryAlternate: UInt16 = 300
    static let badRequest: UInt16 = 400
    static let unauthenticated: UInt16 = 401
    static let forbidden: UInt16 = 403
    static let unknownAttribute: UInt16 = 420
    static let allocationMismatch: UInt16 = 437
    static let staleNonce: UInt16 = 438
    static let familyNotSupported: UInt16 = 440
    static let wrongCredentials: UInt16 = 441
    static let allocationQuotaReached: UInt16 = 486
    static let insufficientCapacity: UInt16 = 508
}

/// Why a relay cannot be used, as a sentence an installer understands.
enum TURNFailure: Error, Equatable, Sendable {
    case noAnswer
    /// 401 or 441 after the credentials were given, or none are there to give.
    case unauthorized
    case redirected
    case mismatch
    case quotaReached
    case noCapacity
    case refused(UInt16)
    /// The success response has no relayed address in it.
    case malformed
    /// The connection to the server ended.
    case disconnected
}

extension TURNFailure: CustomStringConvertible {
    var description: String {
        switch self {
        case .noAnswer: "it does not answer"
        case .unauthorized: "it refuses the user name and password (401); look at turn_credential"
        case .redirected: "it sends elsewhere (300), which is not followed; name the final server"
        case .mismatch: "it does not know the allocation any more (437)"
        case .quotaReached: "the user has too many allocations there (486)"
        case .noCapacity: "it is full (508)"
        case .refused(let code): "it refuses with error \(code)"
        case .malformed: "its answer cannot be used"
        case .disconnected: "its connection ended"
        }
    }
}
