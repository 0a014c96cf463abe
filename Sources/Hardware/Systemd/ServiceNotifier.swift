internal import CSystemd

/// Tells systemd how the service is (sd_notify(3)). Does nothing where systemd did not start it (no $NOTIFY_SOCKET).
///
/// Owns nothing; from any thread. A message is one datagram to the manager and is not waited for.
public struct ServiceNotifier: Sendable {
    public init() {}

    /// A press gets an answer from now on.
    public func ready() { notify("READY=1") }

    /// The service is on its way out.
    public func stopping() { notify("STOPPING=1") }

    /// What `systemctl status` shows: one sentence in plain words.
    public func status(_ sentence: String) {
        // A line break would start another field.
        notify("STATUS=" + String(sentence.map { $0.isNewline ? " " : $0 }))
    }

    private func notify(_ message: String) {
        _ = sd_notify(0, message)
    }
}
