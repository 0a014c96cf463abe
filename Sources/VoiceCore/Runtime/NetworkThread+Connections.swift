internal import CLinux
internal import Glibc

/// TCP connections, which the engine asks for and hears of as paths.
extension NetworkThread {
    /// Something happened on a connection.
    mutating func serve(_ connection: TCPConnection, _ path: PathID, at now: Instant) {
        switch connection.state {
        case .connecting:
            guard let address = connection.finishConnecting() else { return end(path, at: now) }
            engine.handle(.pathOpened(path, address: address, localPreference: 0), at: now, into: &sink)
        case .established:
            connection.flush()
            switch connection.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<1_600])) {
            case .nothing: break
            case .ended: return end(path, at: now)
            case .bytes(let count):
                // Who it is from is for the engine to know.
                let route = Route(path: path, remote: SocketAddress(ip: .v4(0), port: 0))
                engine.handle(.datagram(buffer, count: count, route), at: now, into: &sink)
            }
        case .broken:
            end(path, at: now)
        }
    }

    /// Has the kernel watch what the connections want by now, and ends those that broke while something was sent.
    mutating func tendConnections() {
        guard !sink.connections.isEmpty || !sink.refused.isEmpty else { return }
        let now = Instant.now
        for path in sink.takeRefused() { engine.handle(.pathClosed(path), at: now, into: &sink) }
        for (path, connection, isWatchedForWriting) in sink.connections {
            if connection.state == .broken {
                end(path, at: now)
            } else if connection.wantsToWrite != isWatchedForWriting {
                sink.watch(path, forWriting: connection.wantsToWrite)
            }
        }
    }

    private mutating func end(_ path: PathID, at now: Instant) {
        sink.disconnect(path)
        engine.handle(.pathClosed(path), at: now, into: &sink)
    }
}
