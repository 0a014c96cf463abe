internal import Glibc

/// One bound, non-blocking UDP socket. Lives on the network thread; closed with its last reference.
final class UDPSocket {
    let descriptor: Int32
    /// The address and port it is bound to.
    let address: SocketAddress

    /// Binds to `ip` with a port of the kernel's choice.
    /// - Throws: `SystemCallError`: the address is gone, or no descriptor is left.
    init(ip: IPAddress) throws(SystemCallError) {
        let family = ip.isIPv6 ? AF_INET6 : AF_INET
        let kind = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try checked("socket") { socket(family, kind, 0) }
        var bound = SocketAddress(ip: ip, port: 0)
        do {
            UDPSocket.markAsVoice(descriptor, isIPv6: ip.isIPv6)
            try bound.withSockaddr { (pointer, length) throws(SystemCallError) in
                _ = try checked("bind") { bind(descriptor, pointer, length) }
            }
            var storage = sockaddr_storage()
            try storage.withSockaddr { (pointer, length) throws(SystemCallError) in
                _ = try checked("getsockname") { getsockname(descriptor, pointer, &length) }
            }
            bound.port = SocketAddress(storage)?.port ?? 0
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        address = bound
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Sends one datagram. A datagram that the kernel does not take is lost, as the network may lose any other.
    /// - Returns: whether the kernel took it.
    func send(_ datagram: UnsafeRawBufferPointer, to remote: SocketAddress) -> Bool {
        remote.withSockaddr { pointer, length in
            sendto(descriptor, datagram.baseAddress, datagram.count, Int32(MSG_NOSIGNAL), pointer, length)
                == datagram.count
        }
    }

    /// Takes one datagram.
    /// - Parameter buffer: filled from its start; a longer datagram is cut.
    /// - Returns: the bytes filled and the sender; nil where none waits, or the kernel reports an earlier send's error.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> (byteCount: Int, from: SocketAddress)? {
        var storage = sockaddr_storage()
        let count = storage.withSockaddr { pointer, length in
            recvfrom(descriptor, buffer.baseAddress, buffer.count, 0, pointer, &length)
        }
        guard count >= 0, let from = SocketAddress(storage) else { return nil }
        return (count, from)
    }

    /// Expedited forwarding for interactive voice (RFC 8837 5); a network that ignores it does no harm.
    static func markAsVoice(_ descriptor: Int32, isIPv6: Bool) {
        var trafficClass: Int32 = 46 << 2
        let (level, name) = isIPv6 ? (Int32(IPPROTO_IPV6), IPV6_TCLASS) : (Int32(IPPROTO_IP), IP_TOS)
        setsockopt(descriptor, level, name, &trafficClass, socklen_t(MemoryLayout<Int32>.size))
        if isIPv6 {
            var only: Int32 = 1
            setsockopt(
                descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &only, socklen_t(MemoryLayout<Int32>.size))
        }
    }
}

extension SocketAddress {
    /// nil for a family other than IPv4 and IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        let size: Int
        switch Int32(address.pointee.sa_family) {
        case AF_INET: size = MemoryLayout<sockaddr_in>.size
        case AF_INET6: size = MemoryLayout<sockaddr_in6>.size
        default: return nil
        }
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: size))
        }
        self.init(storage)
    }

    /// nil for a family other than IPv4 and IPv6.
    init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch Int32(storage.ss_family) {
        case AF_INET:
            let v4 = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in.self) }
            self.init(ip: .v4(UInt32(bigEndian: v4.sin_addr.s_addr)), port: UInt16(bigEndian: v4.sin_port))
        case AF_INET6:
            let v6 = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in6.self) }
            let (high, low) = withUnsafeBytes(of: v6.sin6_addr) {
                ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
            self.init(
                ip: .v6(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low), scope: v6.sin6_scope_id),
                port: UInt16(bigEndian: v6.sin6_port))
        default:
            return nil
        }
    }

    func withSockaddr<Result, Failure: Error>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var storage = sockaddr_storage()
        let length: Int
        switch ip {
        case .v4(let bits):
            var v4 = sockaddr_in()
            v4.sin_family = sa_family_t(AF_INET)
            v4.sin_port = port.bigEndian
            v4.sin_addr.s_addr = bits.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: v4, as: sockaddr_in.self) }
            length = MemoryLayout<sockaddr_in>.size
        case .v6(let high, let low, let scope):
            var v6 = sockaddr_in6()
            v6.sin6_family = sa_family_t(AF_INET6)
            v6.sin6_port = port.bigEndian
            v6.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &v6.sin6_addr) {
                $0.storeBytes(of: high.bigEndian, as: UInt64.self)
                $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
            }
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: v6, as: sockaddr_in6.self) }
            length = MemoryLayout<sockaddr_in6>.size
        }
        return try storage.withSockaddr { (pointer, _) throws(Failure) in
            try body(UnsafePointer(pointer), socklen_t(length))
        }
    }
}

extension sockaddr_storage {
    /// Lends the storage as the generic sockaddr that system calls take; `length` starts as the whole size.
    mutating func withSockaddr<Result, Failure: Error>(
        _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return try withUnsafeMutablePointer(to: &self) { (storage) throws(Failure) in
            try storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { (pointer) throws(Failure) in
                try body(pointer, &length)
            }
        }
    }
}
