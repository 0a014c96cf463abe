@testable import VoiceCore

/// Reads any bytes as one message; then as a row of events for a live ICE agent, whose answers are read in their turn.
///
/// An event is a byte of flags, a byte of length and a message of that length. The flags have it signed as a peer would, so that the
/// input reaches what lies behind the integrity check, make it answer the agent's latest request, and let time pass.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSTUN(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    if let message = try? STUNMessage(parsing: input) { _ = message.isAuthentic(localKey) }

    var peer = Peer(isControlling: count & 1 == 0)
    var reader = ByteReader(input)
    while let flags = try? reader.uint8(), let length = try? reader.uint8(),
        let message = try? reader.slice(min(Int(length), reader.remaining))
    {
        peer.play(flags, message)
    }
    return 0
}

private let local = ICECredentials(fragment: "loca", password: "localpasswordlocalpassword")
private let remote = ICECredentials(fragment: "remo", password: "remotepasswordremotepassword")
private let localKey = STUNKey(password: local.password)
private let remoteKey = STUNKey(password: remote.password)
private let path = PathID(rawValue: 1)
private let remotes = (1...4).map { SocketAddress(ip: .v4(0xC000_0200 + $0), port: 5_000) }

/// An agent with one address and its far end.
private struct Peer {
    private var agent: ICEAgent
    private var now = Instant(nanoseconds: 0)
    private var latestRequest = STUNTransactionID(high: 0, low: 0)

    init(isControlling: Bool) {
        var word: UInt64 = 0
        // libFuzzer calls from one thread only.
        nonisolated(unsafe) let next = { () -> UInt64 in
            word &+= 0x9E37_79B9_7F4A_7C15
            return word
        }
        agent = ICEAgent(isControlling: isControlling, local: local, entropy: Entropy { next() })
        agent.addLocal(
            path: path, address: SocketAddress(ip: .v4(0xC000_02FE), port: 4_000), localPreference: 1, at: now)
    }

    mutating func play(_ flags: UInt8, _ message: UnsafeRawBufferPointer) {
        let hop = Int(flags >> 3 & 3)
        let step = Int64(flags >> 5)
        now = now + .milliseconds(step * step * step * 20)
        if let deadline = agent.deadline, deadline.at < now { agent.handleTimeout(at: now) }
        if flags & 7 == 7 {
            let candidates = remotes.enumerated().map { index, address in
                Candidate(foundation: "1", transport: .udp, priority: UInt32(index) + 1, address: address, kind: .host)
            }
            agent.setRemote(remote, isLite: hop == 3, candidates: Array(candidates.prefix(hop + 1)), at: now)
        } else {
            var datagram = [UInt8](message)
            if flags & 4 != 0 { answerLatestRequest(&datagram) }
            if flags & 3 != 0 { sign(&datagram, with: flags & 1 != 0 ? localKey : remoteKey) }
            datagram.withUnsafeBytes { agent.receive($0, from: Route(path: path, remote: remotes[hop]), at: now) }
        }
        drain()
    }

    private mutating func drain() {
        var buffer = [UInt8](repeating: 0, count: 1_200)
        buffer.withUnsafeMutableBytes { buffer in
            while let (byteCount, _) = agent.nextTransmit(into: buffer) {
                let sent = UnsafeRawBufferPointer(rebasing: buffer[..<byteCount])
                guard let message = try? STUNMessage(parsing: sent), message.hasFingerprint else {
                    fatalError("the agent sends what it cannot read")
                }
                if message.kind == .request { latestRequest = message.transaction }
            }
        }
        while agent.nextEvent() != nil {}
        if let route = agent.selectedRoute { precondition(agent.accepts(route)) }
    }

    private func answerLatestRequest(_ datagram: inout [UInt8]) {
        guard datagram.count >= STUNHeader.byteCount else { return }
        datagram.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: latestRequest.high.bigEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: latestRequest.low.bigEndian, toByteOffset: 16, as: UInt32.self)
        }
    }

    /// Adds MESSAGE-INTEGRITY and FINGERPRINT to whatever it is.
    private func sign(_ datagram: inout [UInt8], with key: STUNKey) {
        guard datagram.count >= STUNHeader.byteCount else { return }
        datagram += [UInt8](repeating: 0, count: -datagram.count & 3)
        let body = datagram.count - STUNHeader.byteCount
        let tag = datagram.withUnsafeBytes { key.tag(of: $0, withLength: UInt16(body + 24)) }
        datagram += [UInt8](repeating: 0, count: 32)
        datagram.withUnsafeMutableBytes { bytes in
            var writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: bytes[2...3]))
            writer.uint16(UInt16(body + 32))
            writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: bytes[4...7]))
            writer.uint32(STUNHeader.magicCookie)
            writer = ByteWriter(UnsafeMutableRawBufferPointer(rebasing: bytes[(20 + body)...]))
            writer.uint16(STUNAttribute.messageIntegrity)
            writer.uint16(20)
            writer.uint64(tag.first)
            writer.uint64(tag.second)
            writer.uint32(tag.third)
            writer.uint16(STUNAttribute.fingerprint)
            writer.uint16(4)
            writer.uint32(STUNFingerprint.value(of: UnsafeRawBufferPointer(rebasing: bytes[..<(44 + body)])))
        }
    }
}
