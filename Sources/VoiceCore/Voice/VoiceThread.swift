/// A thread that VoiceCore runs, for a host that watches over its process (a watchdog).
public struct VoiceThread: Equatable, Sendable {
    /// As the system shows it: "tp-network", "tp-capture" or "tp-playback".
    public var name: String
    /// When its loop last turned. A living thread turns at least every 2 s, whatever the network and the sound device do;
    /// one that does not is stuck.
    public var lastTurn: Instant

    public init(name: String, lastTurn: Instant) {
        self.name = name
        self.lastTurn = lastTurn
    }
}

extension PBVoice {
    /// The threads that live now, those of closing voices among them. From any thread.
    public nonisolated static var threads: [VoiceThread] {
        LivePulses.all.map { VoiceThread(name: $0.name, lastTurn: $0.lastBeat) }
    }
}
