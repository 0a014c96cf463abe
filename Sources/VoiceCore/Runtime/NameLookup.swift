internal import CLinux
internal import Glibc

/// Looks host names up without waiting for the answer, by the C library's own resolver (getaddrinfo_a(3)).
///
/// The library keeps the worker that waits for the name server, so that no thread of ours does, and none is made for it. A lookup cannot
/// be called back; what it finds after the voice has ended is dropped by whoever it is handed to.
enum NameLookup {
    /// What a lookup holds until its worker is done with it.
    private final class Pending {
        let request = UnsafeMutablePointer<talkpost_lookup>.allocate(capacity: 1)
        let name: UnsafeMutablePointer<CChar>?
        let found: @Sendable ([IPAddress]) -> Void

        init(_ host: String, _ found: @escaping @Sendable ([IPAddress]) -> Void) {
            name = strdup(host)
            self.found = found
            request.initialize(to: talkpost_lookup())
            request.pointee.name = UnsafePointer(name)
        }

        deinit {
            if let result = request.pointee.result { freeaddrinfo(result) }
            request.deallocate()
            free(name)
        }
    }

    /// - Parameter found: called once, on a thread of the library's: with the addresses in the system's order (RFC 6724), each once,
    ///   none where there is no such name or no name server.
    static func start(_ host: String, found: @escaping @Sendable ([IPAddress]) -> Void) {
        let pending = Pending(host, found)
        let context = Unmanaged.passRetained(pending)
        let code = talkpost_look_up(pending.request, { NameLookup.finish($0) }, context.toOpaque())
        guard code != 0 else { return }
        context.release()
        found([])
    }

    private static func finish(_ value: sigval) {
        guard let pointer = value.sival_ptr else { return }
        let pending = Unmanaged<Pending>.fromOpaque(pointer).takeRetainedValue()
        var addresses: [IPAddress] = []
        var next = pending.request.pointee.result
        while let entry = next {
            if let address = entry.pointee.ai_addr.flatMap({ SocketAddress($0)?.ip }), !addresses.contains(address) {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        pending.found(addresses)
    }
}
