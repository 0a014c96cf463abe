/// The one format of sound inside: mono, 48 kHz, Int16. Durations of packets count in its samples.
enum AudioFormat {
    static let samplesPerSecond = 48_000
    /// A frame: 10 ms, what a sound device gives and takes.
    static let frameSampleCount = 480
    /// A packet as this client sends it: 20 ms.
    static let packetSampleCount = 960
    /// The longest Opus packet: 120 ms (RFC 6716 3.2.5).
    static let longestPacketSampleCount = 5760
    /// 2.5 ms: every Opus duration is a multiple of it (RFC 6716 2.1.4).
    static let shortestSampleCount = 120
}
