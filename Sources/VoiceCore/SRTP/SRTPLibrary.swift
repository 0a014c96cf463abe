internal import CSRTP

/// libsrtp, started once in the process, and one session that is kept alive.
///
/// Owned by the runtime from the process's start; any thread may let go of it. Debian's libsrtp sits on NSS, which starts anew,
/// a millisecond each time, whenever there is no session: this one is never used and only prevents that.
final class SRTPLibrary: Sendable {
    // Made in init, freed in deinit, and not used between.
    nonisolated(unsafe) private let session: srtp_t

    /// - Throws: `other` where libsrtp cannot start or has no memory; there is no voice then.
    init() throws(SRTPError) {
        let profile = SRTPKeys.Profile.aes128CMSHA1_80
        session = try SRTPLibrary.makeSession(
            profile, key: [UInt8](repeating: 0, count: profile.keyByteCount + profile.saltByteCount), isInbound: true)
    }

    deinit {
        srtp_dealloc(session)
    }

    /// libsrtp's version, for example "libsrtp2 2.5.0".
    static var version: String {
        srtp_get_version_string().map { String(cString: $0) } ?? "libsrtp2"
    }

    /// One direction for any SSRC; the caller ends it with srtp_dealloc.
    static func makeSession(_ profile: SRTPKeys.Profile, key: [UInt8], isInbound: Bool) throws(SRTPError) -> srtp_t {
        guard key.count == profile.keyByteCount + profile.saltByteCount else { throw .keyLength }
        guard started == srtp_err_status_ok else { throw SRTPError(started) }
        var key = key
        defer { key.withUnsafeMutableBytes { talkpost_erase($0.baseAddress, $0.count) } }
        var session: srtp_t?
        let status = talkpost_srtp_create(
            &session, profile == .aeadAES128GCM ? 1 : 0, isInbound ? 1 : 0, &key, windowSize)
        guard status == srtp_err_status_ok, let session else { throw SRTPError(status) }
        return session
    }

    private static let started = srtp_init()

    /// Packets that may come late: 20 s of 20 ms packets. RFC 3711 3.3.2 asks for 64 at least.
    private static let windowSize: UInt = 1_024
}

extension SRTPError {
    init(_ status: srtp_err_status_t) {
        switch status {
        case srtp_err_status_auth_fail: self = .authentication
        case srtp_err_status_replay_fail, srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: self = .replay
        case srtp_err_status_bad_param, srtp_err_status_parse_err: self = .malformed
        default: self = .other(code: UInt32(truncatingIfNeeded: status.rawValue))
        }
    }
}

extension SRTPKeys {
    /// Overwrites the keys, as far as nobody else holds a copy of this value.
    mutating func erase() {
        local.withUnsafeMutableBytes { talkpost_erase($0.baseAddress, $0.count) }
        remote.withUnsafeMutableBytes { talkpost_erase($0.baseAddress, $0.count) }
    }
}
