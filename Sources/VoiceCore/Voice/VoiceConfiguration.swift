/// What the host may choose about its voices; the defaults suit a talk post. Set once, before the first voice; servers and proxy, whose
/// credentials may change, count anew at each `connect`.
public struct VoiceConfiguration: Sendable {
    /// What the encoder aims at, bits per second: 6,000 to 128,000.
    public var bitsPerSecond = 32_000
    /// Opus encoder complexity, 0 to 10; 5 costs half of 9.
    public var encoderComplexity = 5
    /// The loss in percent that the encoder's in-band FEC is made for at least, whatever the other side reports; 0: it is sent only while
    /// packets are lost.
    public var expectedLossPercent = 0
    /// Names of the network interfaces to use; nil: every one that is up and has an address.
    public var interfaces: Set<String>?
    /// Whether loopback addresses are offered as well, for a provider on the same machine.
    public var offersLoopback = false
    /// The STUN and TURN servers to use, if the network needs any.
    public var iceServers: [ICEServer] = []
    /// What opens connections for voices; nil: they are opened straight.
    public var proxy: VoiceProxy?

    /// The name of the data channel that is opened to the provider; nil: none is.
    public var channel: String? = "oai-events"
    /// Whether turns are taken by muting and unmuting: the provider's own turn detection is switched off. Needs `channel`.
    public var takesTurnsByMuting = false

    public init() {}
}
