/// Chunk types (RFC 9260 3.2, RFC 6525 3, RFC 3758 3.2).
enum SCTPChunkType {
    static let data: UInt8 = 0
    static let initiation: UInt8 = 1
    static let initiationAck: UInt8 = 2
    static let sack: UInt8 = 3
    static let heartbeat: UInt8 = 4
    static let heartbeatAck: UInt8 = 5
    static let abort: UInt8 = 6
    static let shutdown: UInt8 = 7
    static let shutdownAck: UInt8 = 8
    static let error: UInt8 = 9
    static let cookieEcho: UInt8 = 10
    static let cookieAck: UInt8 = 11
    static let shutdownComplete: UInt8 = 14
    static let reconfiguration: UInt8 = 130
    static let forwardTSN: UInt8 = 192
}

/// Parameter types (RFC 9260 3.3.2 and 3.3.3, RFC 3758 3.1, RFC 5061 4.2.7, RFC 6525 4).
enum SCTPParameterType {
    static let heartbeatInfo: UInt16 = 1
    static let ipv4Address: UInt16 = 5
    static let ipv6Address: UInt16 = 6
    static let stateCookie: UInt16 = 7
    static let unrecognized: UInt16 = 8
    static let cookiePreservative: UInt16 = 9
    static let hostName: UInt16 = 11
    static let supportedAddresses: UInt16 = 12
    static let outgoingReset: UInt16 = 13
    static let incomingReset: UInt16 = 14
    static let associationReset: UInt16 = 15
    static let reconfigurationResponse: UInt16 = 16
    static let addOutgoingStreams: UInt16 = 17
    static let addIncomingStreams: UInt16 = 18
    static let supportedExtensions: UInt16 = 0x8008
    static let forwardTSNSupported: UInt16 = 0xC000
}

/// Error causes (RFC 9260 3.3.10), those that we say.
enum SCTPCause: UInt16, Sendable {
    case missingParameter = 2
    case staleCookie = 3
    case outOfResource = 4
    case unresolvableAddress = 5
    case unrecognizedChunk = 6
    case invalidParameter = 7
    case unrecognizedParameters = 8
    case noUserData = 9
    case userInitiated = 12
    case protocolViolation = 13
}

/// What to do with a chunk or parameter that is not known, by its two highest bits (RFC 9260 3.2 and 3.2.1).
struct UnknownHandling {
    /// Whether what stands behind it is read as well.
    let goesOn: Bool
    let isReported: Bool

    init(chunkType: UInt8) {
        goesOn = chunkType & 0x80 != 0
        isReported = chunkType & 0x40 != 0
    }

    init(parameterType: UInt16) {
        self.init(chunkType: UInt8(parameterType >> 8))
    }
}

/// Why a packet or chunk cannot be read.
enum SCTPFault: Error, Equatable {
    case truncated
    case wrongChecksum
    case malformedChunk
}
