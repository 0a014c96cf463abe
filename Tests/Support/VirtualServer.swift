@testable import VoiceCore

/// A STUN and TURN server on a `VirtualNetwork`, over datagrams and streams. It checks credentials, permissions and channels as
/// RFC 8656 asks, so that a client that forgets one is not served.
final class VirtualServer: VirtualHost {
    struct Allocation {
        var client: SocketAddress
        var relayed: SocketAddress
        /// The same port of the server's IPv6 address, where both families were asked for and it has one.
        var relayed6: SocketAddress?
        /// Of the request that made it: the same one again gets the same answer (RFC 8656 7.2).
        var transaction: STUNTransactionID
        var expiry: Instant
        var permissions: [IPAddress: Instant] = [:]
        var channels: [UInt16: SocketAddress] = [:]

        func source(for peer: SocketAddress) -> SocketAddress { peer.ip.isIPv6 ? relayed6 ?? relayed : relayed }
    }

    weak var network: VirtualNetwork?
    let address: SocketAddress
    var isDead = false
    /// Answers each request with this error.
    var refusal: UInt16?
    /// A nonce is good for this long.
    var nonceLifetime: Duration = .seconds(3600)
    var usesSHA256 = false
    /// What IPv6 addresses are lent of; nil: none are.
    var address6: IPAddress?
    /// Takes offence at requests for two families.
    var refusesFamilies = false
    private var streams: [SocketAddress: VirtualStream] = [:]
    private(set) var allocations: [Allocation] = []
    private(set) var requestCounts: [UInt16: Int] = [:]
    private(set) var channelDataCount = 0
    private(set) var indicationCount = 0
    private var nonceNumber = 0
    private var nonceMadeAt = Instant(nanoseconds: 0)
    private var nextPort: UInt16 = 50_000
    private let username: String
    private let password: String
    private static let realm = Array("relay.example".utf8)
    private static let algorithms: [UInt8] = [0, 1, 0, 0, 0, 2, 0, 0]

    init(_ address: SocketAddress, username: String = "talk", password: String = "secret") {
        self.address = address
        self.username = username
        self.password = password
    }

    /// As a voice is told of it.
    func asServer(_ service: STUNServerURL.Service, over transport: STUNServerURL.Transport = .udp) -> ReachServer {
        ReachServer(
            service: service, transport: transport, address: address, host: "relay.example", username: username,
            password: password)
    }

    func owns(_ address: SocketAddress) -> Bool { address.ip == self.address.ip || address.ip == address6 }

    func deliver(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, at now: Instant) {
        guard !isDead else { return }
        allocations.removeAll { $0.expiry <= now }
        if to == address {
            serve(bytes, from: from, at: now) { [self] in network?.send($0, from: address, to: from) }
        } else if let allocation = allocations.first(where: { $0.relayed == to || $0.relayed6 == to }),
            allocation.permissions[from.ip].map({ $0 > now }) ?? false
        {
            let message = wrapped(bytes, from: from, for: allocation)
            if let stream = streams[allocation.client] {
                stream.send(message + [UInt8](repeating: 0, count: -message.count & 3))
            } else {
                network?.send(message, from: address, to: allocation.client)
            }
        }
    }

    func accept(_ stream: VirtualStream, at now: Instant) -> Bool {
        guard !isDead, stream.local == address else { return false }
        streams[stream.remote] = stream
        var reader = FrameReader(.turn)
        let scratch = Scratch()
        stream.receive = { [unowned self, unowned stream] bytes in
            bytes.withUnsafeBytes { reader.add($0) }
            while let byteCount = try? reader.next(into: scratch.bytes), let now = network?.now {
                serve(Array(scratch.bytes[..<byteCount]), from: stream.remote, at: now) { stream.send($0) }
            }
        }
        return true
    }

    /// What a client sent.
    private func serve(_ bytes: [UInt8], from: SocketAddress, at now: Instant, reply: ([UInt8]) -> Void) {
        bytes.withUnsafeBytes { raw in
            if let (channel, data) = ChannelData.parse(raw) {
                guard let allocation = allocations.first(where: { $0.client == from }),
                    let peer = allocation.channels[channel], allocation.permissions[peer.ip].map({ $0 > now }) ?? false
                else { return }
                channelDataCount += 1
                network?.send(Array(data), from: allocation.source(for: peer), to: peer)
                return
            }
            guard let message = try? TURNMessage(parsing: raw) else { return }
            if message.stun.kind == .indication {
                guard let allocation = allocations.first(where: { $0.client == from }), let peer = message.peerAddress,
                    let data = message.data, allocation.permissions[peer.ip].map({ $0 > now }) ?? false
                else { return }
                indicationCount += 1
                network?.send(Array(data), from: allocation.source(for: peer), to: peer)
                return
            }
            guard message.stun.kind == .request else { return }
            if let answer = answer(raw, message, from: from, at: now) { reply(answer) }
        }
    }

    private func answer(
        _ raw: UnsafeRawBufferPointer, _ message: TURNMessage, from: SocketAddress, at now: Instant
    ) -> [UInt8]? {
        let method = message.stun.method
        requestCounts[method, default: 0] += 1
        if method == STUNHeader.binding { return success(message, key: nil) { $0.xorMappedAddress(from) } }
        if let refusal { return failure(message, refusal) }
        guard let nonce = message.nonce else { return challenge(message, 401, at: now) }
        guard nonce == currentNonce, now < nonceMadeAt + nonceLifetime else { return challenge(message, 438, at: now) }
        guard let name = message.stun.username, name.elementsEqual(username.utf8),
            let key = STUNLongTermKey(
                username: username, realm: Self.realm, password: password, algorithm: usesSHA256 ? .sha256 : .md5),
            message.isAuthentic(key, usesSHA256: usesSHA256)
        else { return failure(message, 401) }
        let index = allocations.firstIndex { $0.client == from }
        switch method {
        case TURNMethod.allocate:
            let asksForBoth = attribute(TURNAttribute.additionalAddressFamily, raw) != nil
            if asksForBoth, refusesFamilies { return failure(message, 440) }
            let allocation: Allocation
            if let index {
                allocation = allocations[index]
                guard allocation.transaction == message.stun.transaction else { return failure(message, 437) }
            } else {
                nextPort += 1
                let relayed6 = asksForBoth ? address6.map { SocketAddress(ip: $0, port: nextPort) } : nil
                allocation = Allocation(
                    client: from, relayed: SocketAddress(ip: address.ip, port: nextPort), relayed6: relayed6,
                    transaction: message.stun.transaction, expiry: now + .seconds(600))
                allocations.append(allocation)
            }
            return success(message, key: key) {
                $0.xorAddress(TURNAttribute.relayedAddress, allocation.relayed)
                if let other = allocation.relayed6 { $0.xorAddress(TURNAttribute.relayedAddress, other) }
                $0.xorMappedAddress(from)
                $0.attribute(TURNAttribute.lifetime, UInt32(600))
            }
        case TURNMethod.refresh:
            guard let index else { return failure(message, 437) }
            if message.lifetime == .zero {
                allocations.remove(at: index)
            } else {
                allocations[index].expiry = now + .seconds(600)
            }
            return success(message, key: key) { $0.attribute(TURNAttribute.lifetime, UInt32(600)) }
        case TURNMethod.createPermission:
            guard let index, let peer = message.peerAddress else { return failure(message, 437) }
            allocations[index].permissions[peer.ip] = now + .seconds(300)
            return success(message, key: key) { _ in }
        case TURNMethod.channelBind:
            guard let index, let peer = message.peerAddress, let number = channelNumber(raw) else {
                return failure(message, 400)
            }
            allocations[index].permissions[peer.ip] = now + .seconds(300)
            allocations[index].channels[number] = peer
            return success(message, key: key) { _ in }
        default:
            return failure(message, 400)
        }
    }

    private func wrapped(_ bytes: [UInt8], from: SocketAddress, for allocation: Allocation) -> [UInt8] {
        if let channel = allocation.channels.first(where: { $0.value == from })?.key {
            channelDataCount += 1
            return [UInt8(channel >> 8), UInt8(channel & 255), UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
                + bytes
        }
        indicationCount += 1
        return encode(.indication, TURNMethod.data, STUNTransactionID(high: 1, low: 2), key: nil) {
            $0.xorAddress(TURNAttribute.peerAddress, from)
            $0.attribute(TURNAttribute.data, bytes)
        }
    }

    private var currentNonce: [UInt8] {
        // The security feature bits: password algorithms (RFC 8489 9.2, 18.1).
        Array("\(usesSHA256 ? "obMatJos2gAAA" : "")nonce\(nonceNumber)".utf8)
    }

    private func challenge(_ message: TURNMessage, _ code: UInt16, at now: Instant) -> [UInt8] {
        if nonceNumber == 0 || now >= nonceMadeAt + nonceLifetime {
            nonceNumber += 1
            nonceMadeAt = now
        }
        return encode(.error, message.stun.method, message.stun.transaction, key: nil) {
            $0.errorCode(code, reason: "")
            $0.attribute(TURNAttribute.realm, Self.realm)
            $0.attribute(TURNAttribute.nonce, currentNonce)
            if usesSHA256 { $0.attribute(TURNAttribute.passwordAlgorithms, Self.algorithms) }
        }
    }

    private func failure(_ message: TURNMessage, _ code: UInt16) -> [UInt8] {
        encode(.error, message.stun.method, message.stun.transaction, key: nil) { $0.errorCode(code, reason: "") }
    }

    private func success(
        _ message: TURNMessage, key: STUNLongTermKey?, _ attributes: (inout STUNWriter) -> Void
    ) -> [UInt8] {
        encode(.success, message.stun.method, message.stun.transaction, key: key, attributes)
    }

    private func encode(
        _ kind: STUNMessage.Kind, _ method: UInt16, _ transaction: STUNTransactionID, key: STUNLongTermKey?,
        _ attributes: (inout STUNWriter) -> Void
    ) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 2_000)
        let byteCount = bytes.withUnsafeMutableBytes { buffer in
            var writer = STUNWriter(buffer, kind: kind, method: method, transaction: transaction)
            attributes(&writer)
            guard let key else { return writer.finish(key: nil) }
            return usesSHA256 ? writer.finish(sha256: key) : writer.finish(key: key.integrity)
        }
        return Array(bytes.prefix(byteCount ?? 0))
    }

    private func channelNumber(_ raw: UnsafeRawBufferPointer) -> UInt16? {
        var value = attribute(TURNAttribute.channelNumber, raw)
        return try? value?.uint16()
    }

    private func attribute(_ type: UInt16, _ raw: UnsafeRawBufferPointer) -> ByteReader? {
        var reader = ByteReader(raw)
        guard (try? reader.skip(STUNHeader.byteCount)) != nil else { return nil }
        while let next = try? reader.uint16(), let length = try? reader.uint16(),
            let value = (try? reader.slice(Int(length))).map({ ByteReader($0) })
        {
            if next == type { return value }
            guard (try? reader.skip(-Int(length) & 3)) != nil else { return nil }
        }
        return nil
    }
}
