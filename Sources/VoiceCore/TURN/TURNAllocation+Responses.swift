/// The server's answers (RFC 8656 7.3, 8, 10.3, 12.3; RFC 8489 9.2.5).
extension TURNAllocation {
    // A nonce may go stale between an answer and the next request, but not over and over.
    private static let renewalLimit = 3
    // RFC 8489 9.2: what begins a nonce that lists security features in the four characters after it.
    private static let nonceCookie = Array("obMatJos2".utf8)

    mutating func conclude(_ message: TURNMessage, at now: Instant) {
        guard let index = requests.firstIndex(where: { $0.transaction == message.stun.transaction }) else { return }
        switch message.stun.kind {
        case .success:
            // The first request carries no credentials and can have no success.
            guard let key, message.isAuthentic(key, usesSHA256: algorithms != nil) else { return }
            succeed(requests.remove(at: index).purpose, message, at: now)
        case .error:
            let request = requests.remove(at: index)
            refuse(request, message, at: now)
        case .request, .indication:
            return
        }
    }

    private mutating func succeed(_ purpose: Purpose, _ message: TURNMessage, at now: Instant) {
        switch purpose {
        case .allocate:
            guard !message.relayedAddresses.isEmpty else { return fail(.malformed) }
            activate(message.relayedAddresses, mapped: message.stun.mappedAddress)
            planRefresh(message.lifetime, at: now)
        case .refresh:
            planRefresh(message.lifetime, at: now)
        case .release:
            end()
        case .permission(let ip):
            guard let index = permissions.firstIndex(where: { $0.ip == ip }) else { return }
            permissions[index].isGranted = true
            permissions[index].renewal = now + Self.peerRenewal
            released += kept.filter { $0.peer.ip == ip }
            kept.removeAll { $0.peer.ip == ip }
        case .channel(_, let peer):
            guard let index = channels.firstIndex(where: { $0.peer == peer }) else { return }
            channels[index].isBound = true
            channels[index].renewal = now + Self.peerRenewal
        }
    }

    /// At half of what was granted, so that a lost refresh can be followed by others.
    private mutating func planRefresh(_ lifetime: Duration?, at now: Instant) {
        // RFC 8656 3.2: 600 s where the server does not say.
        let granted = min(max(lifetime ?? .seconds(600), .seconds(10)), .seconds(3600))
        refreshAt = now + granted / 2
    }

    private mutating func refuse(_ request: Request, _ message: TURNMessage, at now: Instant) {
        let code = message.stun.errorCode ?? 0
        switch code {
        case TURNErrorCode.unauthenticated where key == nil && !username.isEmpty,
            TURNErrorCode.staleNonce where request.renewals < Self.renewalLimit:
            guard learn(message) else { return fail(.unauthorized) }
            renew(request, at: now)
        case TURNErrorCode.badRequest, TURNErrorCode.unknownAttribute, TURNErrorCode.familyNotSupported,
            TURNErrorCode.insufficientCapacity:
            guard request.purpose == .allocate, asksForBothFamilies else {
                return abandon(request.purpose, code, at: now)
            }
            // Some servers have no IPv6 address, or do not know what an additional one is.
            asksForBothFamilies = false
            renew(request, at: now)
        default:
            abandon(request.purpose, code, at: now)
        }
    }

    /// Takes realm and nonce, and makes the key.
    private mutating func learn(_ message: TURNMessage) -> Bool {
        guard let nonce = message.nonce else { return false }
        self.nonce = nonce
        if let realm = message.realm { self.realm = realm }
        let algorithm: STUNLongTermKey.Algorithm
        if let offered = message.passwordAlgorithms, Self.listsAlgorithms(nonce) {
            guard let best = Self.bestAlgorithm(offered) else { return false }
            algorithms = offered
            algorithm = best
        } else {
            algorithms = nil
            algorithm = .md5
        }
        key = STUNLongTermKey(username: username, realm: realm, password: password, algorithm: algorithm)
        return key != nil
    }

    private mutating func renew(_ request: Request, at now: Instant) {
        var again = request
        again.transaction = STUNTransactionID(from: &entropy)
        again.retransmission = STUNRetransmission(isReliable: isReliable, at: now)
        again.renewals += 1
        again.isDue = true
        requests.append(again)
    }

    private mutating func abandon(_ purpose: Purpose, _ code: UInt16, at now: Instant) {
        switch purpose {
        case .release:
            end()
        case .permission(let ip):
            if code == TURNErrorCode.allocationMismatch { return fail(.mismatch) }
            guard let index = permissions.firstIndex(where: { $0.ip == ip }) else { return }
            permissions[index] = Permission(ip: ip, isDenied: true)
            kept.removeAll { $0.peer.ip == ip }
        case .channel(_, let peer):
            if code == TURNErrorCode.allocationMismatch { return fail(.mismatch) }
            // What goes there goes by indications again.
            channels.removeAll { $0.peer == peer && $0.isBound }
            if let index = channels.firstIndex(where: { $0.peer == peer }) { channels[index].renewal = nil }
        case .allocate, .refresh:
            switch code {
            case TURNErrorCode.tryAlternate: fail(.redirected)
            case TURNErrorCode.unauthenticated, TURNErrorCode.wrongCredentials, TURNErrorCode.staleNonce:
                fail(.unauthorized)
            case TURNErrorCode.allocationMismatch: fail(.mismatch)
            case TURNErrorCode.allocationQuotaReached: fail(.quotaReached)
            case TURNErrorCode.insufficientCapacity: fail(.noCapacity)
            default: fail(.refused(code))
            }
        }
    }

    /// RFC 8489 9.2, 18.1: bit 0 of the features says that password algorithms are offered.
    private static func listsAlgorithms(_ nonce: [UInt8]) -> Bool {
        guard nonce.count >= nonceCookie.count + 4, nonce.starts(with: nonceCookie) else { return false }
        // 24 bits in base64, the first bit in the first character.
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        guard let value = alphabet.firstIndex(of: nonce[nonceCookie.count]) else { return false }
        return value & 0x20 != 0
    }

    private static func bestAlgorithm(_ list: [UInt8]) -> STUNLongTermKey.Algorithm? {
        list.withUnsafeBytes { raw in
            var reader = ByteReader(raw)
            var best: STUNLongTermKey.Algorithm?
            while let number = try? reader.uint16(), let length = try? reader.uint16() {
                guard (try? reader.skip(Int(length) + (-Int(length) & 3))) != nil else { break }
                if let algorithm = STUNLongTermKey.Algorithm(rawValue: number), algorithm.rawValue > best?.rawValue ?? 0
                {
                    best = algorithm
                }
            }
            return best
        }
    }
}
