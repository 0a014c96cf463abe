/// What is asked of the server.
extension TURNAllocation {
    // RFC 8656 3.2: the server's own default; it says what it grants.
    private static let lifetime: UInt32 = 600
    // One for each peer and a few beside; more only where a server answers nothing any more.
    private static let requestLimit = 48

    mutating func ask(_ purpose: Purpose, at now: Instant) {
        guard requests.count < Self.requestLimit, !requests.contains(where: { $0.purpose == purpose }) else { return }
        requests.append(
            Request(
                purpose: purpose, transaction: STUNTransactionID(from: &entropy),
                retransmission: STUNRetransmission(isReliable: isReliable, at: now)))
    }

    mutating func repeatRequests(at now: Instant) {
        var index = 0
        while index < requests.count {
            switch requests[index].retransmission.handleTimeout(at: now) {
            case .nothing: break
            case .send: requests[index].isDue = true
            case .giveUp:
                let purpose = requests.remove(at: index).purpose
                giveUp(purpose)
                if phase == .ended { return }
                continue
            }
            index += 1
        }
    }

    /// The server did not answer.
    private mutating func giveUp(_ purpose: Purpose) {
        switch purpose {
        case .allocate, .refresh: fail(.noAnswer)
        case .release: end()
        case .permission(let ip): forget(ip)
        case .channel(_, let peer): channels.removeAll { $0.peer == peer }
        }
    }

    /// The peer's permission was not had; a later datagram for it asks again.
    mutating func forget(_ ip: IPAddress) {
        permissions.removeAll { $0.ip == ip }
        kept.removeAll { $0.peer.ip == ip }
    }

    /// Encodes the next message to the server into `buffer`, which should have 1,600 bytes; call until nil.
    mutating func nextTransmit(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Int? {
        for index in requests.indices where requests[index].isDue {
            requests[index].isDue = false
            if let byteCount = encode(requests[index], into: buffer) { return byteCount }
        }
        while !released.isEmpty {
            let (peer, bytes) = released.removeFirst()
            if let byteCount = bytes.withUnsafeBytes({ wrap($0, to: peer, into: buffer, at: now) }) { return byteCount }
        }
        return nil
    }

    private func encode(_ request: Request, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let method =
            switch request.purpose {
            case .allocate: TURNMethod.allocate
            case .refresh, .release: TURNMethod.refresh
            case .permission: TURNMethod.createPermission
            case .channel: TURNMethod.channelBind
            }
        var writer = STUNWriter(buffer, kind: .request, method: method, transaction: request.transaction)
        switch request.purpose {
        case .allocate:
            writer.attribute(TURNAttribute.requestedTransport, 17 << 24)  // RFC 8656 18.7: UDP
            writer.attribute(TURNAttribute.lifetime, Self.lifetime)
            // RFC 8656 18.6, 18.11: IPv6 is 2.
            if asksForBothFamilies { writer.attribute(TURNAttribute.additionalAddressFamily, 2 << 24) }
        case .refresh: writer.attribute(TURNAttribute.lifetime, Self.lifetime)
        case .release: writer.attribute(TURNAttribute.lifetime, UInt32(0))
        case .permission(let ip):
            writer.xorAddress(TURNAttribute.peerAddress, SocketAddress(ip: ip, port: 0))
        case .channel(let number, let peer):
            writer.attribute(TURNAttribute.channelNumber, UInt32(number) << 16)
            writer.xorAddress(TURNAttribute.peerAddress, peer)
        }
        guard let key else { return writer.finish(key: nil) }
        writer.username(Array(username.utf8))
        writer.attribute(TURNAttribute.realm, realm)
        writer.attribute(TURNAttribute.nonce, nonce)
        guard let algorithms else { return writer.finish(key: key.integrity) }
        // RFC 8489 9.2.5: with algorithms agreed on, all is signed by SHA-256.
        writer.attribute(TURNAttribute.passwordAlgorithms, algorithms)
        writer.attribute(TURNAttribute.passwordAlgorithm, UInt32(key.algorithm.rawValue) << 16)
        return writer.finish(sha256: key)
    }
}
