import Glibc
import Testing

@testable import Hardware

@Suite(.serialized) struct ServiceNotifierTests {
    /// A stand-in for systemd's end of the socket, at an abstract address (unix(7)).
    private final class Manager {
        let descriptor: Int32

        init?() {
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            let name = "talkpost-test-\(getpid())"
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
            let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
            let bound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
            }
            guard descriptor >= 0, bound == 0 else { return nil }
            setenv("NOTIFY_SOCKET", "@\(name)", 1)
        }

        deinit {
            unsetenv("NOTIFY_SOCKET")
            close(descriptor)
        }

        /// What came, nil where nothing did.
        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
            return count >= 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
        }
    }

    @Test func eachMessageIsOneDatagram() throws {
        let manager = try #require(Manager())
        let notifier = ServiceNotifier()
        notifier.send(.ready)
        notifier.send(.status("Waiting for a press,\nnothing is wrong."))
        notifier.send(.alive)
        notifier.send(.stopping)
        #expect(manager.next() == "READY=1")
        #expect(manager.next() == "STATUS=Waiting for a press, nothing is wrong.")
        #expect(manager.next() == "WATCHDOG=1")
        #expect(manager.next() == "STOPPING=1")
        #expect(manager.next() == nil)
    }

    @Test func withoutSystemdNothingHappens() {
        unsetenv("NOTIFY_SOCKET")
        ServiceNotifier().send(.ready)
    }

    @Test func theWatchdogsPeriodIsWhatSystemdSetForThisProcess() {
        setenv("WATCHDOG_USEC", "10000000", 1)
        setenv("WATCHDOG_PID", "\(getpid())", 1)
        #expect(ServiceNotifier().watchdogPeriod == .seconds(10))
        setenv("WATCHDOG_PID", "1", 1)
        #expect(ServiceNotifier().watchdogPeriod == nil)
        unsetenv("WATCHDOG_USEC")
        unsetenv("WATCHDOG_PID")
        #expect(ServiceNotifier().watchdogPeriod == nil)
    }
}
