import VoiceCore

/// A new voice that follows one by itself: the provider's session has lasted as long as it may, or the connection was lost in the middle
/// of a conversation. The visitor hears that it is being made, and goes on.
extension Kiosk {
    /// How long before its session's end a voice is renewed at the next pause.
    static let renewalTime: Duration = .seconds(60)
    /// Silence on both sides that is a pause: longer than between two words.
    static let pause: Duration = .milliseconds(1500)
    /// Before its session's end a voice is renewed without a pause: what is said then would be cut off anyway.
    static let lastCall: Duration = .seconds(5)
    /// A lost voice in which somebody was heard this short a time ago is in use.
    static let useTime: Duration = .seconds(10)

    /// When the voice is to be renewed, as far as is known now; somebody who is heard puts it off.
    var renewal: Instant? {
        guard let expiry else { return nil }
        let inPause = lastSound.map { max($0 + Self.pause, expiry - Self.renewalTime) } ?? (expiry - Self.renewalTime)
        return min(inPause, expiry - Self.lastCall)
    }

    /// Whether somebody is in the middle of a conversation.
    func isInUse(_ gate: Gate, at now: Instant) -> Bool {
        gate.isOpen || lastSound.map { now - $0 <= Self.useTime } ?? false
    }

    /// Ends the voice and goes on in a new one.
    mutating func renew(_ reason: CloseReason, at now: Instant) -> [KioskEffect] {
        guard case .talking(let gate, _) = state else { return [] }
        return close(reason, then: .connect(gate), at: now)
    }
}

extension Kiosk.Link {
    /// Whether the connection was ever up: one that never was is not made again by itself.
    var wasUp: Bool {
        switch self {
        case .connecting: false
        case .connected, .disconnected: true
        }
    }

    /// Whether it was lost in the middle of a conversation, however long ago: nobody is heard on a lost connection.
    var wasInUse: Bool {
        switch self {
        case .connecting, .connected: false
        case .disconnected(let inUse): inUse
        }
    }
}
