@testable import VoiceCore

/// Reads any bytes as one message of a TURN server; then as a row of a server's answers to a live allocation.
///
/// An answer is a byte of flags, a byte of length and attributes of that length, each two bytes of type, one of length and its value.
/// The flags choose its kind, whether it answers the latest request and carries the right signature, and let time pass.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTURN(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = UnsafeRawBufferPointer(start: bytes, count: count)
    if let message = try? TURNMessage(parsing: input), let key = someKey {
        _ = message.isAuthentic(key, usesSHA256: true)
        _ = message.isAuthentic(key, usesSHA256: false)
    }
    _ = ChannelData.parse(input)

    var server = Server(isReliable: count & 1 == 0)
    var reader = ByteReader(input)
    while let flags = try? reader.uint8(), let length = try? reader.uint8(),
        let attributes = try? reader.slice(min(Int(length), reader.remaining))
    {
        server.play(flags, attributes)
    }
    return 0
}

private let someKey = STUNLongTermKey(
    username: "talk", realm: Array("relay.example".utf8), password: "secret", algorithm: .sha256)
private let peers = (1...4).map { SocketAddress(ip: .v4(0xC000_0200 + $0), port: 5_000) }

/// An allocation and its far end.
private struct Server {
    private var allocation: TURNAllocation
    private var now = Instant(nanoseconds: 0)
    private var latest: (method: UInt16, transaction: STUNTransactionID)?
    private let buffer = Scratch()

    init(isReliable: Bool) {
        var word: UInt64 = 0
        // libFuzzer calls from one thread only.
        nonisolated(unsafe) let next = { () -> UInt64 in
            word &+= 0x9E37_79B9_7F4A_7C15
            return word
        }
        allocation = TURNAllocation(
            username: "talk", password: "secret", isReliable: isReliable, entropy: Entropy { next() }, at: now)
        drain()
    }

    mutating func play(_ flags: UInt8, _ attributes: UnsafeRawBufferPointer) {
        let step = Int64(flags >> 6)
        now = now + .seconds(step * step * step * 30)
        if let deadline = allocation.deadline, deadline <= now { allocation.handleTimeout(at: now) }
        let peer = peers[Int(flags >> 4 & 3)]
        switch flags & 3 {
        case 0:
            _ = allocation.receive(attributes, at: now)
        case 1:
            _ = allocation.wrap(attributes, to: peer, into: buffer.bytes, at: now)
            if flags & 8 != 0 { allocation.bindChannel(to: peer, at: now) }
        default:
            answer(
                flags & 1 == 0 ? .success : .error, isSigned: flags & 4 != 0, isIndication: flags & 8 != 0, attributes)
        }
        drain()
    }

    private mutating func answer(
        _ kind: STUNMessage.Kind, isSigned: Bool, isIndication: Bool, _ attributes: UnsafeRawBufferPointer
    ) {
        let request = latest ?? (TURNMethod.allocate, STUNTransactionID(high: 1, low: 2))
        var writer = STUNWriter(
            buffer.bytes, kind: isIndication ? .indication : kind,
            method: isIndication ? TURNMethod.data : request.method, transaction: request.transaction)
        var reader = ByteReader(attributes)
        while let type = try? reader.uint16(), let length = try? reader.uint8(),
            let value = try? reader.slice(min(Int(length), reader.remaining))
        {
            writer.attribute(type, value)
        }
        let byteCount: Int?
        if isSigned, let key = allocation.key {
            byteCount = allocation.algorithms == nil ? writer.finish(key: key.integrity) : writer.finish(sha256: key)
        } else {
            byteCount = writer.finish(key: nil)
        }
        guard let byteCount else { return }
        let message = [UInt8](buffer.bytes[..<byteCount])
        message.withUnsafeBytes { _ = allocation.receive($0, at: now) }
    }

    private mutating func drain() {
        while let byteCount = allocation.nextTransmit(into: buffer.bytes, at: now) {
            let sent = UnsafeRawBufferPointer(rebasing: buffer.bytes[..<byteCount])
            if ChannelData.parse(sent) != nil { continue }
            guard let message = try? TURNMessage(parsing: sent) else { fatalError("it sends what it cannot read") }
            if message.stun.kind == .request { latest = (message.stun.method, message.stun.transaction) }
        }
        while allocation.nextEvent() != nil {}
        precondition(allocation.kept.count <= TURNAllocation.keptLimit)
        precondition(allocation.permissions.count <= TURNAllocation.permissionLimit)
        precondition(allocation.requests.count <= 48)
    }
}
