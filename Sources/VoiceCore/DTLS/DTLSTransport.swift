internal import COpenSSL

/// One DTLS 1.2 association (RFC 6347) over datagrams that others carry, with the keys it gives to SRTP (RFC 5764).
///
/// Owned by the engine, on the network thread. It takes datagrams and the time, and gives datagrams, application data and a
/// deadline; it never touches a socket. Left out: DTLS 1.0 (RFC 8827 6.5), cookies (ICE has proven the path), tickets, resumption
/// and renegotiation (one association is one voice).
///
/// OpenSSL's retransmission timer reads the wall clock by itself. If that is set back in mid-handshake, the timer stalls, and
/// `handshakeLimit` ends the handshake.
struct DTLSTransport: ~Copyable {
    private(set) var phase = DTLSPhase.handshaking
    /// When `handleTimeout` is due; nil while nothing is to be waited for.
    private(set) var deadline: Instant?

    private let role: DTLSRole
    private let bio: DatagramBIO
    private var inbound = DatagramQueue(byteCount: 65_536)
    private var malformedRecords = 0
    private var unauthenticatedAlerts = 0
    private var lateDatagrams = 0
    private var startedAt: Instant?
    private var suspicion: Suspicion?
    private var lastFlight: LastFlight?
    let ssl: OpaquePointer

    /// A plaintext alert that may be true, or anyone's.
    private struct Suspicion {
        var code: UInt8
        var end: Instant
        /// How far the handshake was; if it moves on, the alert was a lie.
        var handshakeState: OSSL_HANDSHAKE_STATE
    }

    /// No datagram is longer: what every path carries (RFC 8261 5 and limits of IPv6 paths with tunnels).
    static let largestDatagram = 1_200
    /// What one record in one datagram carries at most, whichever of our cipher suites is chosen: GCM takes the most from it, 13 bytes of
    /// header, 8 of nonce and 16 of tag (RFC 5288 3). A multiple of 4, as SCTP packets are.
    static let largestSCTPPacket = (largestDatagram - 37) & ~3
    /// The first retransmission comes after this long and then each after twice as long, up to `longestWait`. RFC 6347 4.2.4.1 asks for
    /// 1 s where nothing is known of the path; ICE has just measured it.
    private static let firstWait: UInt32 = 100_000  // microseconds
    private static let longestWait: UInt32 = 3_000_000
    /// OpenSSL gives up at its 13th timeout (DTLS1_TMO_ALERT_COUNT), 27.1 s after the start with the waits above.
    static let handshakeLimit = Duration.seconds(30)
    /// How long a handshake that got a plaintext alert may stand still before the alert is believed.
    static let suspicionLimit = Duration.seconds(2)

    /// - Throws: `library` where OpenSSL has no memory; there is no voice then.
    init(role: DTLSRole, identity: DTLSIdentity) throws(DTLSError) {
        let bio = DatagramBIO()
        self.init(role: role, bio: bio, ssl: try DTLSTransport.makeSSL(role: role, identity: identity, bio: bio))
    }

    private init(role: DTLSRole, bio: DatagramBIO, ssl: OpaquePointer) {
        self.role = role
        self.bio = bio
        self.ssl = ssl
    }

    deinit {
        SSL_free(ssl)
    }

    /// A path to the far end is there: a client sends its first flight, a server waits for one. Later calls do nothing.
    mutating func start(at now: Instant) {
        guard startedAt == nil, phase == .handshaking else { return }
        startedAt = now
        advance(at: now)
    }

    /// Takes one datagram of DTLS records, whole.
    mutating func receive(_ datagram: UnsafeRawBufferPointer, at now: Instant) {
        switch phase {
        case .closed, .failed:
            lateDatagrams += 1
            return
        case .handshaking, .connected:
            break
        }
        if startedAt == nil { startedAt = now }
        bio.records = DTLSRecords(datagram, role: role, isConnected: phase == .connected)
        advance(at: now)
        if let records = bio.records {
            malformedRecords &+= records.malformed
            unauthenticatedAlerts &+= records.unauthenticatedAlerts
            noteAlert(records.plaintextAlert, at: now)
        }
        bio.records = nil
    }

    /// To be called at `deadline`; earlier or later does no harm.
    mutating func handleTimeout(at now: Instant) {
        repeatLastFlight(at: now)
        guard phase == .handshaking, let startedAt else { return }
        if let suspicion, now >= suspicion.end {
            end(.failed(.alertReceived(suspicion.code)))
        } else if now - startedAt >= DTLSTransport.handshakeLimit {
            end(.failed(.timedOut))
        } else {
            ERR_clear_error()
            if talkpost_dtls_handle_timeout(ssl) < 0 { fail() }
        }
        updateDeadline(at: now)
    }

    /// The next datagram to send, at most `largestDatagram` bytes; nil when there is none. Also after the end: the last alert.
    mutating func nextDatagram(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        bio.outbound.next(into: buffer)
    }

    /// The next message the far end sent, one DTLS record; nil when there is none. `buffer` should hold 16,384 bytes.
    mutating func nextApplicationData(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        inbound.next(into: buffer)
    }

    /// Sends one message as one record in one datagram.
    /// - Throws: `notConnected` before and after the association, `messageTooLong`; neither changes anything.
    ///   Anything else is the end, as `phase` then says.
    mutating func send(applicationData: UnsafeRawBufferPointer) throws(DTLSError) {
        guard phase == .connected else { throw .notConnected }
        let limit = largestApplicationMessage
        guard applicationData.count <= limit else { throw .messageTooLong(limit: limit) }
        guard !applicationData.isEmpty else { return }
        ERR_clear_error()
        guard SSL_write(ssl, applicationData.baseAddress, Int32(applicationData.count)) == Int32(applicationData.count)
        else {
            let error = DTLSError.library("SSL_write")
            end(.failed(error))
            throw error
        }
    }

    /// How many bytes of application data fit into one datagram.
    var largestApplicationMessage: Int { DTLS_get_data_mtu(ssl) }

    /// Whether the far end's certificate has one of these fingerprints. False before `connected`.
    func peerMatches(_ fingerprints: [Fingerprint]) -> Bool {
        guard phase == .connected, let certificate = SSL_get1_peer_certificate(ssl) else { return false }
        defer { X509_free(certificate) }
        return fingerprints.contains { wanted in
            guard let own = try? Fingerprint(of: certificate, by: wanted.algorithm),
                own.digest.count == wanted.digest.count
            else { return false }
            return CRYPTO_memcmp(own.digest, wanted.digest, own.digest.count) == 0
        }
    }

    /// The keys for SRTP (RFC 5764 4.2). Their owner erases them.
    /// - Throws: `notConnected`; `noSRTPProfile` where the far end chose none; `library`.
    func srtpKeys() throws(DTLSError) -> SRTPKeys {
        guard phase == .connected else { throw .notConnected }
        guard let chosen = SSL_get_selected_srtp_profile(ssl),
            let profile = SRTPKeys.Profile(openSSL: chosen.pointee.id)
        else { throw .noSRTPProfile }
        let (key, salt) = (profile.keyByteCount, profile.saltByteCount)
        var exported = [UInt8](repeating: 0, count: 2 * (key + salt))
        defer { exported.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
        ERR_clear_error()
        let label = "EXTRACTOR-dtls_srtp"
        guard SSL_export_keying_material(ssl, &exported, exported.count, label, label.utf8.count, nil, 0, 0) == 1 else {
            throw .library("SSL_export_keying_material")
        }
        // client key, server key, client salt, server salt
        let client = exported[..<key] + exported[(2 * key)..<(2 * key + salt)]
        let server = exported[key..<(2 * key)] + exported[(2 * key + salt)...]
        switch role {
        case .client: return SRTPKeys(profile: profile, local: Array(client), remote: Array(server))
        case .server: return SRTPKeys(profile: profile, local: Array(server), remote: Array(client))
        }
    }

    /// Says goodbye, where there is someone to say it to. What it sends is to be fetched with `nextDatagram`.
    mutating func close() {
        switch phase {
        case .handshaking:
            end(.closed(byPeer: false))
        case .connected:
            ERR_clear_error()
            _ = SSL_shutdown(ssl)
            end(.closed(byPeer: false))
        case .closed, .failed:
            break
        }
    }

    var statistics: DTLSStatistics {
        DTLSStatistics(
            malformedRecords: malformedRecords, unauthenticatedAlerts: unauthenticatedAlerts,
            lateDatagrams: lateDatagrams,
            overflows: inbound.dropped &+ bio.outbound.dropped)
    }

    private static func makeSSL(
        role: DTLSRole, identity: DTLSIdentity, bio: DatagramBIO
    ) throws(DTLSError) -> OpaquePointer {
        let ssl = try DTLSContext.makeSSL()
        var isDone = false
        defer { if !isDone { SSL_free(ssl) } }
        guard SSL_use_certificate(ssl, identity.certificate) == 1, SSL_use_PrivateKey(ssl, identity.privateKey) == 1,
            talkpost_ssl_set_mtu(ssl, largestDatagram) == 1
        else { throw .library("SSL set-up") }
        let handle = try bio.makeBIO()
        SSL_set_bio(ssl, handle, handle)
        DTLS_set_timer_cb(ssl) { _, last in
            last == 0 ? DTLSTransport.firstWait : min(last &* 2, DTLSTransport.longestWait)
        }
        switch role {
        case .client: SSL_set_connect_state(ssl)
        case .server: SSL_set_accept_state(ssl)
        }
        isDone = true
        return ssl
    }

    // MARK: - The way through OpenSSL

    private mutating func advance(at now: Instant) {
        var unread: Int
        repeat {
            // OpenSSL may stop at a record it skips; the rest of the datagram still waits then.
            unread = bio.records?.remaining ?? 0
            if phase == .handshaking { shakeHands(at: now) }
            if phase == .connected { readApplicationData() }
        } while (phase == .handshaking || phase == .connected) && bio.records?.remaining ?? 0 < unread
            && bio.records?.remaining ?? 0 > 0
        updateDeadline(at: now)
    }

    private mutating func shakeHands(at now: Instant) {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            phase = .connected
            suspicion = nil
            if role == .server {
                lastFlight = LastFlight(bio.outbound.copies, wait: .microseconds(Int64(Self.firstWait)), at: now)
            }
        } else if SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ {
            fail()
        }
    }

    private mutating func readApplicationData() {
        while true {
            let room = inbound.reserve(Int(SSL3_RT_MAX_PLAIN_LENGTH))
            ERR_clear_error()
            let count: Int32
            if let room {
                count = SSL_read(ssl, room.baseAddress, SSL3_RT_MAX_PLAIN_LENGTH)
            } else {
                count = readAndDrop()
            }
            guard count > 0 else {
                switch SSL_get_error(ssl, count) {
                case SSL_ERROR_WANT_READ:
                    break
                case SSL_ERROR_ZERO_RETURN:
                    // RFC 5246 7.2.1: answered by our own.
                    _ = SSL_shutdown(ssl)
                    end(.closed(byPeer: true))
                default:
                    fail()
                }
                return
            }
            lastFlight = nil
            if room != nil { inbound.commit(Int(count)) }
        }
    }

    private mutating func repeatLastFlight(at now: Instant) {
        guard let flight = lastFlight, flight.next <= now else { return }
        for datagram in flight.datagrams { datagram.withUnsafeBytes { bio.outbound.append($0) } }
        lastFlight = flight.following(at: now)
        updateDeadline(at: now)
    }

    /// Takes one message that the full queue has no room for out of OpenSSL.
    private mutating func readAndDrop() -> Int32 {
        let count = withUnsafeTemporaryAllocation(byteCount: Int(SSL3_RT_MAX_PLAIN_LENGTH), alignment: 16) {
            SSL_read(ssl, $0.baseAddress, SSL3_RT_MAX_PLAIN_LENGTH)
        }
        if count > 0 { inbound.countDrop() }
        return count
    }

    /// Ends with the reason that OpenSSL's error queue and the last alert give.
    private mutating func fail() {
        let (code, text) = DTLSError.takeOpenSSLReason()
        if let alert = bio.alertReceived {
            end(.failed(.alertReceived(alert)))
            return
        }
        switch code {
        case SSL_R_READ_TIMEOUT_EXPIRED: end(.failed(.timedOut))
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: end(.failed(.peerWithoutCertificate))
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_WRONG_SSL_VERSION, SSL_R_WRONG_VERSION_NUMBER:
            end(.failed(.unsupportedVersion))
        default: end(.failed(.protocolFailed(reason: text)))
        }
    }

    private mutating func end(_ last: DTLSPhase) {
        phase = last
        suspicion = nil
        lastFlight = nil
        deadline = nil
    }

    /// Remembers a plaintext alert, or forgets it because the handshake went on.
    private mutating func noteAlert(_ code: UInt8?, at now: Instant) {
        guard phase == .handshaking else { return }
        let state = SSL_get_state(ssl)
        if let known = suspicion, known.handshakeState != state { suspicion = nil }
        // A server that has seen no ClientHello has nothing that anyone could complain about.
        if let code, suspicion == nil, state != TLS_ST_BEFORE {
            suspicion = Suspicion(code: code, end: now + DTLSTransport.suspicionLimit, handshakeState: state)
        }
        updateDeadline(at: now)
    }

    private mutating func updateDeadline(at now: Instant) {
        guard phase == .handshaking, let startedAt else {
            deadline = lastFlight?.next
            return
        }
        var next = startedAt + DTLSTransport.handshakeLimit
        if let suspicion { next = min(next, suspicion.end) }
        let left = talkpost_dtls_timer_microseconds(ssl)
        // Longer than the longest wait: the wall clock was set back.
        if left >= 0 { next = min(next, now + .microseconds(min(left, Int64(DTLSTransport.longestWait)))) }
        deadline = next
    }
}

extension DTLSError {
    fileprivate static func alertReceived(_ code: UInt8) -> DTLSError {
        .alertReceived(
            code: code, text: SSL_alert_desc_string_long(Int32(code)).map { String(cString: $0) } ?? "unknown")
    }
}
