/// Asks an HTTP proxy for a way to another host (CONNECT, RFC 9110 9.3.6), and reads its answer.
///
/// Pure: bytes in, bytes and a verdict out. Only the Basic scheme is spoken (RFC 7617): Digest and NTLM would bind the voice to what
/// few proxies of sites that lend a talk post still ask for.
struct ProxyHandshake: Sendable {
    /// What the proxy's answer comes to.
    enum Verdict: Equatable, Sendable {
        case waiting
        /// The way is open; so many of the bytes given last belong to it already.
        case established(rest: Int)
        case refused(Refusal)
    }

    /// Why there is no way.
    enum Refusal: Error, Equatable, Sendable {
        /// 407.
        case unauthorized
        /// 403.
        case forbidden
        /// 502, 503, 504: it cannot reach the other host.
        case unreachable
        case status(Int)
        /// What answers is no HTTP proxy.
        case unreadable
    }

    // A proxy's answer to CONNECT has a few headers; error pages are not read.
    private static let headLimit = 8_192

    let request: [UInt8]
    private var head: [UInt8] = []

    /// - Parameters:
    ///   - host: a name or an address; IPv6 without brackets.
    ///   - credential: "user:password", or nil.
    init(host: String, port: UInt16, credential: String?) {
        let authority = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        var text = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n"
        if let credential { text += "Proxy-Authorization: Basic \(Self.base64(Array(credential.utf8)))\r\n" }
        request = Array((text + "\r\n").utf8)
    }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Verdict {
        for (index, byte) in bytes.enumerated() {
            head.append(byte)
            if head.count > Self.headLimit { return .refused(.unreadable) }
            if byte == UInt8(ascii: "\n"), head.hasSuffix("\r\n\r\n") || head.hasSuffix("\n\n") {
                return verdict(rest: bytes.count - index - 1)
            }
        }
        // Something else that speaks first is told apart early.
        let protocolName = Array("HTTP/1.".utf8)
        return head.starts(with: protocolName) || protocolName.starts(with: head) ? .waiting : .refused(.unreadable)
    }

    private func verdict(rest: Int) -> Verdict {
        // RFC 9112 4: "HTTP/1.1 200 text".
        let name = Array("HTTP/1.".utf8)
        guard head.starts(with: name), head.count >= 12, head[8] == UInt8(ascii: " ") else {
            return .refused(.unreadable)
        }
        var status = 0
        for byte in head[9..<12] {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return .refused(.unreadable) }
            status = status * 10 + Int(byte & 15)
        }
        switch status {
        case 200..<300: return .established(rest: rest)
        case 403: return .refused(.forbidden)
        case 407: return .refused(.unauthorized)
        case 502...504: return .refused(.unreachable)
        default: return .refused(.status(status))
        }
    }

    /// RFC 4648 4.
    private static func base64(_ bytes: [UInt8]) -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits = 0
            for index in 0..<3 { bits = bits << 8 | (index < group.count ? Int(group[start + index]) : 0) }
            for index in 0..<4 {
                text.append(index <= group.count ? alphabet[bits >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension ProxyHandshake.Refusal: CustomStringConvertible {
    var description: String {
        switch self {
        case .unauthorized: "the proxy wants another user or password (407); look at proxy_credential"
        case .forbidden: "the proxy does not allow it (403)"
        case .unreachable: "the proxy cannot reach the other side"
        case .status(let status): "the proxy refuses with status \(status)"
        case .unreadable: "what answers is no HTTP proxy"
        }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ text: StaticString) -> Bool {
        count >= text.utf8CodeUnitCount
            && text.withUTF8Buffer { suffix(text.utf8CodeUnitCount).elementsEqual($0) }
    }
}
