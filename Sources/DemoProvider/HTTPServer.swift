internal import CMicroHTTPD
import Glibc
import Synchronization

/// The HTTP server: the owner of libmicrohttpd's daemon. Each connection has a thread of the library's, on which the handler runs
/// and may wait.
final class HTTPServer: Sendable {
    /// An offer has a few KiB; more than this is refused.
    static let bodyLimit = 256 * 1024

    /// Sendable: set once before the server is handed out, and stopped once.
    private struct Daemon: @unchecked Sendable {
        var pointer: OpaquePointer?
    }

    let port: UInt16
    private let handler: @Sendable (HTTPRequest) -> HTTPReply
    private let daemon = Mutex(Daemon())

    /// Why there is no server: a sentence.
    struct Failed: Error {
        var message: String
    }

    /// Begins to serve.
    /// - Throws: where the address cannot be had.
    init(
        host: String, port: UInt16, handler: @escaping @Sendable (HTTPRequest) -> HTTPReply
    ) throws(Failed) {
        self.handler = handler
        let (socket, port) = try Self.listen(host, port)
        self.port = port
        // The daemon is stopped, and with it the last call of these closures, before the server goes.
        let context = Unmanaged.passUnretained(self).toOpaque()
        let pointer = talkpost_http_start(
            socket,
            { context, connection, url, method, _, upload, uploadCount, request in
                guard let context, let connection, let url, let method, let uploadCount, let request else {
                    return talkpost_http_no
                }
                let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
                guard let started = request.pointee else {
                    request.pointee = Unmanaged.passRetained(Incoming()).toOpaque()
                    return talkpost_http_yes
                }
                let incoming = Unmanaged<Incoming>.fromOpaque(started).takeUnretainedValue()
                if uploadCount.pointee > 0 {
                    incoming.take(UnsafeRawBufferPointer(start: upload, count: uploadCount.pointee))
                    uploadCount.pointee = 0
                    return talkpost_http_yes
                }
                return server.answer(connection, String(cString: method), String(cString: url), incoming)
            },
            { _, _, request, _ in
                guard let started = request?.pointee else { return }
                Unmanaged<Incoming>.fromOpaque(started).release()
                request?.pointee = nil
            }, context)
        guard let pointer else {
            close(socket)
            throw Failed(message: "The HTTP server could not be started on \(host):\(port).")
        }
        daemon.withLock { $0.pointer = pointer }
    }

    deinit { stop() }

    /// Closes all connections and returns once no handler runs; handlers that wait must have been let go.
    func stop() {
        let daemon = daemon.withLock { daemon in
            defer { daemon.pointer = nil }
            return daemon
        }
        if let pointer = daemon.pointer { MHD_stop_daemon(pointer) }
    }

    /// A request on its way in. On its connection's thread alone.
    private final class Incoming {
        var body: [UInt8] = []
        var isTooLarge = false

        func take(_ bytes: UnsafeRawBufferPointer) {
            guard !isTooLarge, bytes.count <= HTTPServer.bodyLimit - body.count else {
                isTooLarge = true
                return
            }
            body += bytes
        }
    }

    private func answer(
        _ connection: OpaquePointer, _ method: String, _ url: String, _ incoming: Incoming
    ) -> MHD_Result {
        let reply =
            incoming.isTooLarge
            ? HTTPReply.error(413, "too_large", "The body is longer than \(Self.bodyLimit) bytes.")
            : handler(HTTPRequest(method: method, path: url, type: Self.type(connection), body: incoming.body))
        guard reply.ending != .closedWithoutAnswer, let response = Self.response(reply) else { return talkpost_http_no }
        defer { MHD_destroy_response(response) }
        if !reply.type.isEmpty { MHD_add_response_header(response, "Content-Type", reply.type) }
        for (name, value) in reply.headers { MHD_add_response_header(response, name, value) }
        return MHD_queue_response(connection, UInt32(clamping: reply.status), response)
    }

    private static func type(_ connection: OpaquePointer) -> String {
        guard let text = talkpost_http_header(connection, "Content-Type") else { return "" }
        return String(cString: text).prefix { $0 != ";" && $0 != " " }.lowercased()
    }

    private static func response(_ reply: HTTPReply) -> OpaquePointer? {
        var body = reply.body
        switch reply.ending {
        case .whole, .closedWithoutAnswer:
            return body.withUTF8 { talkpost_http_response($0.baseAddress, $0.count) }
        case .truncated:
            let half = Unmanaged.passRetained(Half(Array(body.utf8.prefix(body.utf8.count / 2))))
            return MHD_create_response_from_callback(
                UInt64(body.utf8.count), 4096,
                { context, position, buffer, room in
                    guard let context, let buffer else { return -2 }
                    let bytes = Unmanaged<Half>.fromOpaque(context).takeUnretainedValue().bytes
                    guard position < bytes.count else { return -2 }  // MHD_CONTENT_READER_END_WITH_ERROR
                    let part = bytes[Int(position)...].prefix(room)
                    UnsafeMutableRawBufferPointer(start: buffer, count: room).copyBytes(from: part)
                    return part.count
                }, half.toOpaque(),
                { context in
                    if let context { Unmanaged<Half>.fromOpaque(context).release() }
                })
        }
    }

    private final class Half {
        let bytes: [UInt8]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }
    }

    /// A listening socket and its port; accepted connections take its TCP_NODELAY over.
    private static func listen(_ host: String, _ port: UInt16) throws(Failed) -> (Int32, UInt16) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE
        var found: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &found)
        guard code == 0, let address = found else {
            throw Failed(message: "The address \(host) is not known (\(String(cString: gai_strerror(code)))).")
        }
        defer { freeaddrinfo(found) }
        let kind = address.pointee.ai_socktype | Int32(SOCK_CLOEXEC.rawValue)
        let socket = Glibc.socket(address.pointee.ai_family, kind, 0)
        var on: Int32 = 1
        let length = socklen_t(MemoryLayout<Int32>.size)
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, length)
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, length)
        guard bind(socket, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0, Glibc.listen(socket, 64) == 0
        else {
            let why = String(cString: strerror(errno))
            close(socket)
            throw Failed(message: "Port \(port) of \(host) cannot be served (\(why)): choose another with --listen.")
        }
        var bound = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &bound) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &size) }
        }
        // The port lies at the same place in sockaddr_in and sockaddr_in6.
        let boundPort = withUnsafeBytes(of: &bound) { $0.loadUnaligned(fromByteOffset: 2, as: UInt16.self) }
        return (socket, UInt16(bigEndian: boundPort))
    }
}
