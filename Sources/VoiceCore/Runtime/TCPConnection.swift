internal import Glibc

/// One non-blocking TCP connection that we opened. Lives on the network thread; closed with its last reference.
///
/// It moves bytes and knows nothing of what they mean. What the kernel does not take yet waits here, within a bound.
final class TCPConnection {
    enum State {
        case connecting
        case established
        case broken
    }

    /// What came of a look at the connection.
    enum Received {
        case bytes(Int)
        case nothing
        case ended
    }

    // Ten seconds of voice with room for a long message of the data channel; who takes less than that in this time is gone.
    private static let pendingLimit = 512 * 1024

    let descriptor: Int32
    private(set) var state = State.connecting
    private var pending: [UInt8] = []
    private var sent = 0

    /// Begins to connect from `ip`, with a port of the kernel's choice.
    /// - Throws: `SystemCallError`: the address is gone, there is no way to the other one, or no descriptor is left.
    init(from ip: IPAddress, to remote: SocketAddress) throws(SystemCallError) {
        let family = ip.isIPv6 ? AF_INET6 : AF_INET
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try checked("socket") { socket(family, kind, 0) }
        do throws(SystemCallError) {
            var yes: Int32 = 1
            // Packets of a voice are small and late enough.
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
            UDPSocket.markAsVoice(descriptor, isIPv6: ip.isIPv6)
            try SocketAddress(ip: ip, port: 0).withSockaddr { (pointer, length) throws(SystemCallError) in
                _ = try checked("bind") { bind(descriptor, pointer, length) }
            }
            let result = remote.withSockaddr { pointer, length in
                Glibc.connect(descriptor, pointer, length) == 0 ? 0 : errno
            }
            guard result == 0 || result == EINPROGRESS else { throw SystemCallError(call: "connect", number: result) }
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Whether the kernel is to say when it takes more.
    var wantsToWrite: Bool {
        switch state {
        case .connecting: true
        case .established: sent < pending.count
        case .broken: false
        }
    }

    /// The kernel has a verdict on a connection that was being opened.
    /// - Returns: the local address where it is open; nil where it failed.
    func finishConnecting() -> SocketAddress? {
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
        var storage = sockaddr_storage()
        let got = storage.withSockaddr { pointer, length in getsockname(descriptor, pointer, &length) }
        guard error == 0, got == 0, let address = SocketAddress(storage) else {
            state = .broken
            return nil
        }
        state = .established
        return address
    }

    /// Sends, or keeps for later; where too much waits already, the connection counts as broken.
    func send(_ bytes: UnsafeRawBufferPointer) {
        guard state == .established else { return }
        var rest = bytes
        if sent == pending.count {
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            if count > 0 { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
            if count < 0, errno != EAGAIN, errno != EINTR { state = .broken }
        }
        guard state == .established, !rest.isEmpty else { return }
        guard pending.count - sent + rest.count <= Self.pendingLimit else {
            state = .broken
            return
        }
        pending.append(contentsOf: rest)
    }

    /// The kernel takes more.
    func flush() {
        while state == .established, sent < pending.count {
            let count = pending.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sent...])
                return Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else {
                if errno != EAGAIN, errno != EINTR { state = .broken }
                break
            }
        }
        if sent == pending.count || sent > Self.pendingLimit / 2 {
            pending.removeFirst(sent)
            sent = 0
        }
    }

    /// - Parameter buffer: filled from its start.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        guard state == .established else { return .ended }
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        if count > 0 { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .ended
    }
}
