internal import CSystemd
import Glibc

/// What a service tells systemd about itself (sd_notify(3)).
public enum ServiceMessage: Equatable, Sendable {
    /// A press gets an answer from now on.
    case ready
    /// What `systemctl status` shows: one line in plain words.
    case status(String)
    /// All parts turn: the watchdog waits anew.
    case alive
    /// The service is on its way out.
    case stopping
}

/// Tells systemd how the service is. Does nothing where systemd did not start it (no $NOTIFY_SOCKET).
///
/// Owns nothing; from any thread. A message is one datagram to the manager and is not waited for.
public struct ServiceNotifier: Sendable {
    public init() {}

    /// Whether systemd started the program and listens to it.
    public var isListenedTo: Bool { getenv("NOTIFY_SOCKET") != nil }

    /// How long systemd waits for `alive` before it acts (WatchdogSec=, sd_watchdog_enabled(3)); nil: it does not.
    public var watchdogPeriod: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0, microseconds > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }

    /// Sends one message.
    public func send(_ message: ServiceMessage) {
        let text =
            switch message {
            case .ready: "READY=1"
            // A line break would start another field.
            case .status(let sentence): "STATUS=" + String(sentence.map { $0.isNewline ? " " : $0 })
            case .alive: "WATCHDOG=1"
            case .stopping: "STOPPING=1"
            }
        _ = sd_notify(0, text)
    }
}
