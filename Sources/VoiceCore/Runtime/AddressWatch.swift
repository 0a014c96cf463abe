internal import Glibc

/// A socket on which the kernel says that an interface or an address came, changed or went (rtnetlink(7)). Lives on the network
/// thread; closed with its last reference.
final class AddressWatch {
    let descriptor: Int32

    /// struct sockaddr_nl, which Swift's Glibc module lacks.
    private struct Address {
        var family = UInt16(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        // RTMGRP_LINK, RTMGRP_IPV4_IFADDR and RTMGRP_IPV6_IFADDR (linux/rtnetlink.h).
        var groups: UInt32 = 0x1 | 0x10 | 0x100
    }

    /// - Throws: `SystemCallError` where the kernel gives none, as where a sandbox does not allow it.
    init() throws(SystemCallError) {
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = try checked("socket") { socket(AF_NETLINK, kind, 0) }  // 0: NETLINK_ROUTE
        var address = Address()
        let length = socklen_t(MemoryLayout<Address>.size)
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
        guard isBound else {
            let error = SystemCallError(call: "bind", number: errno)
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Takes all that waits. What it says is not read: the list of addresses tells all.
    func drain(with buffer: UnsafeMutableRawBufferPointer) {
        while recv(descriptor, buffer.baseAddress, buffer.count, 0) > 0 {}
    }
}
