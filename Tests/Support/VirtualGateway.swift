@testable import VoiceCore

/// What a provider has in front of it to be reached by streams (RFC 6544 passive, RFC 4571): each stream becomes an address of the
/// gateway's, from which its datagrams go to the provider.
final class VirtualGateway: VirtualHost {
    weak var network: VirtualNetwork?
    let address: SocketAddress
    private let provider: SocketAddress
    private var streams: [UInt16: VirtualStream] = [:]
    private(set) var acceptedCount = 0
    private var nextPort: UInt16 = 30_000

    init(_ address: SocketAddress, for provider: SocketAddress) {
        self.address = address
        self.provider = provider
    }

    /// The line that an answer has for it.
    var candidateLine: String {
        "a=candidate:9 1 tcp 1518280447 \(address.ip) \(address.port) typ host tcptype passive\r\n"
    }

    func owns(_ address: SocketAddress) -> Bool { address.ip == self.address.ip }

    func accept(_ stream: VirtualStream, at now: Instant) -> Bool {
        guard stream.local == address else { return false }
        acceptedCount += 1
        nextPort += 1
        let port = nextPort
        streams[port] = stream
        var reader = FrameReader(.lengthBefore)
        let scratch = Scratch()
        stream.receive = { [unowned self] bytes in
            bytes.withUnsafeBytes { reader.add($0) }
            while let byteCount = try? reader.next(into: scratch.bytes) {
                network?.send(
                    Array(scratch.bytes[..<byteCount]), from: SocketAddress(ip: address.ip, port: port), to: provider)
            }
        }
        return true
    }

    func deliver(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, at now: Instant) {
        streams[to.port]?.send([UInt8(bytes.count >> 8), UInt8(bytes.count & 255)] + bytes)
    }

    /// Ends all streams.
    func closeAll() {
        for stream in streams.values { stream.close() }
        streams.removeAll()
    }
}

/// An HTTP proxy on a `VirtualNetwork` that knows CONNECT.
final class VirtualProxy: VirtualHost {
    weak var network: VirtualNetwork?
    let address: SocketAddress
    /// Answers everything with this status.
    var refusal: Int?
    /// The header line that it asks for; nil: none.
    var authorization: String?
    private(set) var requests: [String] = []
    private var streams: [VirtualStream] = []

    init(_ address: SocketAddress) {
        self.address = address
    }

    func owns(_ address: SocketAddress) -> Bool { address == self.address }

    func deliver(_ bytes: [UInt8], from: SocketAddress, to: SocketAddress, at now: Instant) {}

    func accept(_ stream: VirtualStream, at now: Instant) -> Bool {
        streams.append(stream)
        var head = ""
        stream.receive = { [unowned self, unowned stream] bytes in
            head += String(decoding: bytes, as: UTF8.self)
            if head.hasSuffix("\r\n\r\n") { serve(head, stream) }
        }
        return true
    }

    private func serve(_ head: String, _ near: VirtualStream) {
        requests.append(head)
        if let authorization, !head.contains(authorization) { return reply(407, near) }
        if let refusal { return reply(refusal, near) }
        let target = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        network?.connect(from: address, to: SocketAddress(target)) { [self] far in
            guard let far else { return reply(502, near) }
            streams.append(far)
            far.receive = { [unowned near] in near.send($0) }
            far.closed = { [unowned near] in near.close() }
            near.receive = { [unowned far] in far.send($0) }
            near.closed = { [unowned far] in far.close() }
            reply(200, near)
        }
    }

    private func reply(_ status: Int, _ stream: VirtualStream) {
        stream.send(Array("HTTP/1.1 \(status) Whatever\r\nX-Filler: 1\r\n\r\n".utf8))
    }
}
