/// One allocation on a TURN server (RFC 8656): a relayed address of each family, the permissions and channels on it, and the keeping of them all.
///
/// Owned by the engine's `Reach`, which also owns the transport to the server. Messages and times come in; messages, events
/// and a deadline go out. It never traps on what a server sends, grows within bounds whatever that is, and once a
/// channel is bound it does not allocate for what goes over it.
///
/// Left out, and why:
/// - following ALTERNATE-SERVER: a server that sends elsewhere is named, and the installer writes the final one;
/// - REQUESTED-ADDRESS-FAMILY: an IPv4 address is asked for, and an IPv6 one in addition;
/// - EVEN-PORT, RESERVATION-TOKEN, DONT-FRAGMENT: nothing here needs them;
/// - mobility and RFC 6062: a changed network is a new allocation, and media is datagrams.
///
/// The parts: `+Requests` writes and repeats, `+Responses` takes the answers.
struct TURNAllocation: Sendable {
    enum Phase: Equatable, Sendable {
        case allocating
        case active
        /// The server is asked to forget it.
        case closing
        case ended
    }

    /// What a request is for; its parameters are enough to write it anew after a 401 or 438.
    enum Purpose: Equatable, Sendable {
        case allocate
        case refresh
        case release
        case permission(IPAddress)
        case channel(UInt16, SocketAddress)
    }

    struct Request: Sendable {
        var purpose: Purpose
        var transaction: STUNTransactionID
        var retransmission: STUNRetransmission
        /// How often it was sent anew because of a nonce.
        var renewals = 0
        var isDue = true
    }

    struct Permission: Sendable {
        var ip: IPAddress
        var isGranted = false
        /// The server does not relay to this address.
        var isDenied = false
        /// When it is asked for again (RFC 8656 9: it holds for 300 s).
        var renewal: Instant?
    }

    struct Channel: Sendable {
        var number: UInt16
        var peer: SocketAddress
        var isBound = false
        /// RFC 8656 12: it holds for 600 s, and renews the permission, which holds for 300.
        var renewal: Instant?
    }

    // A description has 32 candidates at most; more peers than that are nobody's.
    static let permissionLimit = 32
    static let channelLimit = 8
    // What waits for a permission: one check for each peer.
    static let keptLimit = 16
    static let keptByteCount = 1_200
    static let peerRenewal: Duration = .seconds(200)

    let username: String
    let password: String
    let isReliable: Bool
    var phase = Phase.allocating
    var entropy: Entropy
    var realm: [UInt8] = []
    var nonce: [UInt8] = []
    var algorithms: [UInt8]?
    var key: STUNLongTermKey?
    var requests: [Request] = []
    var permissions: [Permission] = []
    var channels: [Channel] = []
    var kept: [(peer: SocketAddress, bytes: [UInt8])] = []
    /// What may go now that its peer is permitted.
    var released: [(peer: SocketAddress, bytes: [UInt8])] = []
    var refreshAt: Instant?
    /// An IPv6 address is asked for in addition to the IPv4 one, unless the server took offence at it (RFC 8656 7.1).
    var asksForBothFamilies = true
    private var events: [TURNEvent] = []

    /// - Parameter isReliable: the server is reached by a stream: nothing is repeated, and ChannelData is padded.
    init(username: String, password: String, isReliable: Bool, entropy: Entropy, at now: Instant) {
        self.username = username
        self.password = password
        self.isReliable = isReliable
        self.entropy = entropy
        ask(.allocate, at: now)
    }

    /// What came from the server.
    enum Received {
        /// It was for the allocation itself, or nothing that is understood.
        case control
        case datagram(UnsafeRawBufferPointer, from: SocketAddress)
    }

    // MARK: In

    /// A whole message of the server's: a datagram, or one cut from the stream.
    mutating func receive(_ message: UnsafeRawBufferPointer, at now: Instant) -> Received {
        guard phase != .ended else { return .control }
        if let (number, data) = ChannelData.parse(message) {
            guard let peer = channelPeer(number) else { return .control }
            return .datagram(data, from: peer)
        }
        guard let message = try? TURNMessage(parsing: message) else { return .control }
        switch message.stun.kind {
        case .indication:
            guard message.stun.method == TURNMethod.data, let peer = message.peerAddress, let data = message.data,
                permissions.contains(where: { $0.ip == peer.ip })
            else { return .control }
            return .datagram(data, from: peer)
        case .success, .error:
            conclude(message, at: now)
            return .control
        case .request:
            return .control
        }
    }

    /// The deadline has come; early or late calls do no harm.
    mutating func handleTimeout(at now: Instant) {
        guard phase != .ended else { return }
        repeatRequests(at: now)
        guard phase == .active else { return }
        if let refreshAt, now >= refreshAt {
            self.refreshAt = nil
            ask(.refresh, at: now)
        }
        for index in permissions.indices {
            guard let renewal = permissions[index].renewal, now >= renewal else { continue }
            permissions[index].renewal = nil
            ask(.permission(permissions[index].ip), at: now)
        }
        for index in channels.indices {
            guard let renewal = channels[index].renewal, now >= renewal else { continue }
            channels[index].renewal = nil
            ask(.channel(channels[index].number, channels[index].peer), at: now)
        }
    }

    /// A channel for the peer that is in use, so that what goes there costs four bytes instead of 36.
    mutating func bindChannel(to peer: SocketAddress, at now: Instant) {
        guard phase == .active, channels.count < Self.channelLimit, !channels.contains(where: { $0.peer == peer })
        else { return }
        // At most `channelLimit`, far below the last number.
        let number = ChannelData.numbers.lowerBound + UInt16(channels.count)
        channels.append(Channel(number: number, peer: peer))
        ask(.channel(number, peer), at: now)
    }

    /// The relayed address is given back.
    mutating func close(at now: Instant) {
        switch phase {
        case .closing, .ended: return
        case .allocating:
            end()
        case .active:
            requests.removeAll()
            phase = .closing
            ask(.release, at: now)
        }
    }

    // MARK: Out

    /// Wraps what is to go to `peer` into `buffer`.
    /// - Returns: its byte count; nil where it has to wait for the peer's permission, or cannot go at all.
    mutating func wrap(
        _ datagram: UnsafeRawBufferPointer, to peer: SocketAddress, into buffer: UnsafeMutableRawBufferPointer,
        at now: Instant
    ) -> Int? {
        guard phase == .active else { return nil }
        for channel in channels where channel.isBound && channel.peer == peer {
            var writer = ByteWriter(buffer)
            writer.uint16(channel.number)
            writer.uint16(UInt16(truncatingIfNeeded: datagram.count))
            writer.bytes(datagram)
            if isReliable { writer.zeros(-datagram.count & 3) }  // RFC 8656 12.5
            return writer.finish()
        }
        guard isPermitted(peer.ip, at: now) else {
            keep(datagram, for: peer)
            return nil
        }
        var writer = STUNWriter(
            buffer, kind: .indication, method: TURNMethod.send, transaction: STUNTransactionID(from: &entropy))
        writer.xorAddress(TURNAttribute.peerAddress, peer)
        writer.attribute(TURNAttribute.data, datagram)
        return writer.finish(key: nil)
    }

    /// The next event in the order they happened; call until nil.
    mutating func nextEvent() -> TURNEvent? {
        events.isEmpty ? nil : events.removeFirst()
    }

    var deadline: Instant? {
        guard phase != .ended else { return nil }
        var earliest = refreshAt
        for request in requests { earliest = .earlier(earliest, request.retransmission.deadline) }
        for permission in permissions { earliest = .earlier(earliest, permission.renewal) }
        for channel in channels { earliest = .earlier(earliest, channel.renewal) }
        return earliest
    }

    // MARK: Shared by the parts

    mutating func activate(_ relayed: [SocketAddress], mapped: SocketAddress?) {
        phase = .active
        events.append(.allocated(relayed: relayed, mapped: mapped))
    }

    mutating func fail(_ failure: TURNFailure) {
        guard phase != .ended else { return }
        if phase != .closing { events.append(.failed(failure)) }
        end()
    }

    mutating func end() {
        phase = .ended
        requests.removeAll()
        permissions.removeAll()
        channels.removeAll()
        kept.removeAll()
        released.removeAll()
        refreshAt = nil
    }

    private func channelPeer(_ number: UInt16) -> SocketAddress? {
        for channel in channels where channel.number == number { return channel.peer }
        return nil
    }

    /// Asks for the permission where there is none yet.
    private mutating func isPermitted(_ ip: IPAddress, at now: Instant) -> Bool {
        for permission in permissions where permission.ip == ip { return permission.isGranted }
        guard permissions.count < Self.permissionLimit else { return false }
        permissions.append(Permission(ip: ip))
        ask(.permission(ip), at: now)
        return false
    }

    /// The newest for each peer waits; a check that had to be repeated meanwhile need not go twice.
    private mutating func keep(_ datagram: UnsafeRawBufferPointer, for peer: SocketAddress) {
        guard datagram.count <= Self.keptByteCount, !permissions.contains(where: { $0.ip == peer.ip && $0.isDenied })
        else { return }
        if let index = kept.firstIndex(where: { $0.peer == peer }) {
            kept[index].bytes = Array(datagram)
        } else if kept.count < Self.keptLimit {
            kept.append((peer, Array(datagram)))
        }
    }
}

/// What an allocation tells its owner.
enum TURNEvent: Equatable, Sendable {
    /// One address, or one of each family. `mapped` is how the server sees the client.
    case allocated(relayed: [SocketAddress], mapped: SocketAddress?)
    /// The end.
    case failed(TURNFailure)
}
