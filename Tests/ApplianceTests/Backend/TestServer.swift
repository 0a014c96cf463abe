import Glibc
import Synchronization

/// A small HTTP server on 127.0.0.1, each connection on a thread of its own, that does with a request whatever a test wants.
final class TestServer: Sendable {
    struct Request: Sendable {
        var method: String
        var target: String
        /// By lower-case name.
        var headers: [String: String]
        var body: String
        /// 1 for the first connection that the server took.
        var connection: Int
    }

    /// One connection, in the hands of the test's closure.
    struct Connection: Sendable {
        let socket: Int32
        var tls: TLSConnection?

        func send(_ text: String) {
            _ = text.utf8.withContiguousStorageIfAvailable {
                if let tls {
                    tls.send(UnsafeRawBufferPointer($0))
                } else {
                    _ = Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
        }

        fileprivate func receive(into buffer: inout [UInt8]) -> Int {
            buffer.withUnsafeMutableBytes { tls?.receive($0) ?? recv(socket, $0.baseAddress, $0.count, 0) }
        }

        /// A whole answer of JSON.
        func answer(_ status: Int, type: String? = "application/json", headers: String = "", _ body: String) {
            var text = "HTTP/1.1 \(status) Status\r\n"
            if let type { text += "Content-Type: \(type)\r\n" }
            text += "\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
            text.makeContiguousUTF8()
            send(text)
        }

        func answer(type: String? = "application/json", _ body: String) {
            answer(200, type: type, body)
        }

        /// As a proxy does after CONNECT (RFC 9110 9.3.6): what comes from either side goes to the other, until one of them ends.
        func tunnel(to port: UInt16) {
            let far = TestServer.connect(to: port)
            guard far >= 0 else { return answer(502, "{}") }
            defer { close(far) }
            send("HTTP/1.1 200 Established\r\n\r\n")
            var buffer = [UInt8](repeating: 0, count: 16_384)
            while true {
                var waiting = [socket, far].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                guard poll(&waiting, 2, 20_000) > 0 else { return }
                for (from, to) in [(0, far), (1, socket)] where waiting[from].revents != 0 {
                    let count = recv(waiting[from].fd, &buffer, buffer.count, 0)
                    guard count > 0, Glibc.send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
                }
            }
        }

        /// Closes with RST instead of FIN.
        func reset() {
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        }

    }

    /// What to do with a request: true keeps the connection open.
    typealias Serve = @Sendable (Request, Connection) -> Bool

    let port: UInt16
    /// Each request as its body is in.
    let requests: AsyncStream<Request>

    private let listener: Int32
    private let report: AsyncStream<Request>.Continuation
    private let serve: Serve
    private let tls: TLSServer?
    private let connections = Mutex(0)

    /// - Parameter tls: nil: it speaks plain HTTP.
    init(tls: TLSServer? = nil, _ serve: @escaping Serve) {
        self.serve = serve
        self.tls = tls
        (requests, report) = AsyncStream.makeStream()
        (listener, port) = Self.listen()
        let server = Unmanaged.passRetained(self)
        var id = pthread_t()
        pthread_create(
            &id, nil,
            { context in
                Unmanaged<TestServer>.fromOpaque(context!).takeRetainedValue().acceptAll()
                return nil
            }, server.toOpaque())
        pthread_detach(id)
    }

    var url: String { "\(tls == nil ? "http" : "https")://127.0.0.1:\(port)" }
    var connectionCount: Int { connections.withLock { $0 } }

    /// Takes no further connections.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The next request that the condition holds for; nil where none comes within 20 s.
    func request(where condition: @Sendable @escaping (Request) -> Bool) async -> Request? {
        await withTaskGroup(of: Request?.self) { group in
            group.addTask { [requests] in
                for await request in requests where condition(request) { return request }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(20))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// A port on which nobody listens.
    static func unusedPort() -> UInt16 {
        let (socket, port) = listen()
        close(socket)
        return port
    }

    private static func connect(to port: UInt16) -> Int32 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(socket, $0, length) }
        }
        guard result != 0 else { return socket }
        close(socket)
        return -1
    }

    private static func listen() -> (Int32, UInt16) {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = bind(socket, $0, length)
                _ = Glibc.listen(socket, 16)
                _ = getsockname(socket, $0, &length)
            }
        }
        return (socket, UInt16(bigEndian: address.sin_port))
    }

    private func acceptAll() {
        while true {
            let socket = accept(listener, nil, nil)
            guard socket >= 0 else { break }
            let number = connections.withLock { count in
                count += 1
                return count
            }
            let work = Unmanaged.passRetained(Work { self.talk(Connection(socket: socket), number) })
            var id = pthread_t()
            pthread_create(
                &id, nil,
                { context in
                    Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().run()
                    return nil
                }, work.toOpaque())
            pthread_detach(id)
        }
        close(listener)
        report.finish()
    }

    private func talk(_ plain: Connection, _ number: Int) {
        defer { close(plain.socket) }
        var connection = plain
        if let tls {
            guard let accepted = tls.accept(plain.socket) else {
                // Read to the end, so that no reset overtakes the alert.
                shutdown(plain.socket, Int32(SHUT_WR))
                var rest = [UInt8](repeating: 0, count: 4096)
                while recv(plain.socket, &rest, rest.count, 0) > 0 {}
                return
            }
            connection.tls = accepted
        }
        var pending: [UInt8] = []
        while let request = Self.read(connection, &pending, number) {
            report.yield(request)
            if !serve(request, connection) { break }
        }
        connection.tls?.close()
    }

    private static func read(_ connection: Connection, _ pending: inout [UInt8], _ number: Int) -> Request? {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            if let end = pending.firstRange(of: Array("\r\n\r\n".utf8)) {
                let lines = String(decoding: pending[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    headers[parts[0].lowercased()] = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
                }
                let count = headers["content-length"].flatMap { Int($0) } ?? 0
                if pending.count >= end.upperBound + count {
                    let first = lines[0].split(separator: " ")
                    let body = String(decoding: pending[end.upperBound..<end.upperBound + count], as: UTF8.self)
                    pending.removeFirst(end.upperBound + count)
                    return Request(
                        method: String(first[0]), target: String(first[1]), headers: headers, body: body,
                        connection: number)
                }
            }
            let got = connection.receive(into: &buffer)
            guard got > 0 else { return nil }
            pending += buffer[..<got]
        }
    }

    private final class Work: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}
