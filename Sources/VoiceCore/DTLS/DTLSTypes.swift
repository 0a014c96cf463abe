/// Which side of the handshake we are; it follows from a=setup (RFC 8842 5).
enum DTLSRole: Sendable {
    /// We answered or were answered `passive` by the far end: we send the ClientHello.
    case client
    case server
}

/// How far a DTLS association has come.
enum DTLSPhase: Equatable, Sendable {
    case handshaking
    /// Both Finished messages are verified. Nothing may be trusted before `peerMatches` has said yes as well.
    case connected
    /// A close_notify went out (false) or came in (true).
    case closed(byPeer: Bool)
    case failed(DTLSError)
}

/// What can go wrong with DTLS. None of them ends anything but its own association.
enum DTLSError: Error, Equatable, Sendable {
    /// OpenSSL refused an operation that only our own set-up can make fail; out of memory at the worst.
    case library(operation: String, reason: String)
    /// The far end did not answer our retransmissions.
    case timedOut
    /// The far end ended the handshake or the association by an alert (RFC 5246 7.2).
    case alertReceived(code: UInt8, text: String)
    /// The far end speaks no DTLS 1.2.
    case unsupportedVersion
    /// The far end, as client, sent no certificate.
    case peerWithoutCertificate
    /// The far end broke the protocol, or shares no cipher, curve or signature with us.
    case protocolFailed(reason: String)
    /// The handshake ended without one of our SRTP profiles (RFC 5764 4.1).
    case noSRTPProfile
    /// Asked for something only a connected association has.
    case notConnected
    /// The message does not fit into one datagram; it was not sent.
    case messageTooLong(limit: Int)
}

extension DTLSError: CustomStringConvertible {
    var description: String {
        switch self {
        case .library(let operation, let reason): "\(operation) failed: \(reason)"
        case .timedOut: "the far end did not answer the DTLS handshake"
        case .alertReceived(let code, let text): "the far end sent the DTLS alert \(code) (\(text))"
        case .unsupportedVersion: "the far end does not speak DTLS 1.2"
        case .peerWithoutCertificate: "the far end sent no certificate"
        case .protocolFailed(let reason): "the DTLS handshake failed: \(reason)"
        case .noSRTPProfile: "the far end shares no SRTP profile with us"
        case .notConnected: "the DTLS association is not connected"
        case .messageTooLong(let limit): "the message is longer than the \(limit) bytes of one datagram"
        }
    }
}

/// What was dropped by a DTLS association, by reason.
struct DTLSStatistics: Equatable, Sendable {
    /// Records no DTLS 1.2 peer sends: a bad header, a bad length, a kind out of place.
    var malformedRecords = 0
    /// Alerts that came before there were keys; anyone can have sent them.
    var unauthenticatedAlerts = 0
    /// Datagrams that came after the end.
    var lateDatagrams = 0
    /// Datagrams and messages that found their queue full, or their reader's buffer too small.
    var overflows = 0
}

extension SRTPKeys.Profile {
    /// The numbers of RFC 5764 4.1.2 and RFC 7714 14.2.
    init?(openSSL id: UInt) {
        switch id {
        case 0x0001: self = .aes128CMSHA1_80
        case 0x0007: self = .aeadAES128GCM
        default: return nil
        }
    }
}
