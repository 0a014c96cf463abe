/// Why a packet was not protected or unprotected; it is dropped and counted then. Or why there is no session.
enum SRTPError: Error, Hashable, Sendable {
    /// Too short, or not RTP or RTCP of version 2.
    case malformed
    /// The packet is a stranger's, or was changed on its way.
    case authentication
    /// The packet came before, or is older than the replay window.
    case replay
    /// The far end has used up the number of SSRCs that one session keeps apart.
    case tooManySources
    /// Our own buffer has no room for the trailer.
    case noRoom
    /// The keys are not as long as their profile says.
    case keyLength
    /// Anything else, by libsrtp's number (srtp_err_status_t).
    case other(code: UInt32)
}
