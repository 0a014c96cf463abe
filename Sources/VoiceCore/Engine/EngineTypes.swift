/// Which side of a voice this is.
enum VoiceSide: Sendable {
    /// Makes the offer: the talk post.
    case offering
    /// Answers it: the demo provider.
    case answering
}

/// What comes into a `VoiceEngine`.
enum EngineInput {
    /// A local transport can be used from now on.
    case pathOpened(PathID, address: SocketAddress, localPreference: UInt16)
    /// A local transport is gone.
    case pathClosed(PathID)
    /// A STUN or TURN server may be used.
    case server(ReachServer)
    /// Connections are opened through a proxy whose address is still being looked up: they wait for it.
    case proxyAwaited
    /// Connections are opened through this one; nil: it has no address, and none are opened.
    case proxy(ReachProxy?)
    /// A server's or the proxy's name was not found.
    case nameMissing(String)
    /// The description is wanted soon: ask the servers, for so long at most. `isGathering` says when they have answered.
    case gather(within: Duration)
    /// A datagram came. The first `count` bytes of `buffer` are it; SRTP decrypts in place.
    case datagram(UnsafeMutableRawBufferPointer, count: Int, Route)
    /// One Opus packet to send, `sampleCount` samples at 48 kHz long, the first of them in front of the microphone at `capturedAt`; nil:
    /// long before.
    case microphone(UnsafeRawBufferPointer, sampleCount: Int, capturedAt: Instant?)
    /// The microphone's gate opened or shut.
    case gate(isOpen: Bool)
    /// The visitor wants the provider to stop talking.
    case interrupt
    /// A message for the data channel of this name; it waits where the channel is not there yet.
    case message(label: String, isText: Bool, bytes: [UInt8])
    /// A text for the channel that the provider's events come on; dropped where there is none.
    case text([UInt8])
    /// The engine's `deadline` has come.
    case timeout
    /// End the voice: the other side is told, and `hasEnded` is set shortly after.
    case close
}

/// Takes what a `VoiceEngine` causes, in order, while it handles an input.
protocol EngineSink: ~Copyable {
    /// Sends one datagram, or the next bytes of a connection. The bytes are the engine's and only lent for the call.
    mutating func send(_ datagram: UnsafeRawBufferPointer, to route: Route)
    /// Opens a TCP connection, whose bytes come as datagrams of `path` and whose end, or failure, as `pathClosed`. `pathOpened` says when
    /// it is there.
    mutating func connect(_ path: PathID, from: IPAddress, to: SocketAddress)
    /// Ends a connection; nothing more is told of it.
    mutating func disconnect(_ path: PathID)
    /// Takes one Opus packet for the playout. The payload is only lent for the call.
    mutating func play(_ payload: UnsafeRawBufferPointer, _ header: RTPHeader, arrivedAt: Instant)
    mutating func report(_ event: EngineEvent)
}

/// What a `VoiceEngine` has to tell.
enum EngineEvent: Equatable, Sendable {
    /// Path, DTLS and fingerprint are good: media flows.
    case connected
    /// Nothing valid came back for 5 s (RFC 7675); media is still tried.
    case disconnected
    /// It cannot go on: why, in a sentence. The engine ends.
    case failed(String)
    /// As `failed`: nothing at all ever came back over UDP.
    case udpBlocked(String)
    /// The other side ended it. The engine ends.
    case closedByPeer
    /// A data channel can be used: ours was answered, or the other side opened one.
    case channelOpened(label: String)
    /// A data channel is gone; the voice goes on.
    case channelClosed(label: String)
    /// A message came on a data channel.
    case message(label: String, isText: Bool, bytes: [UInt8])
    /// A message of the provider, read; in place of `message` where the other side is one.
    case provider(ProviderMessage)
    /// A message of ours cannot be sent.
    case messageRefused(label: String, SCTPSendError)
    /// What the other side's reports say about what we send.
    case senderReport(SenderQuality)
}

/// How what we send arrives, by the other side's receiver reports (RFC 3550 6.4.1).
struct SenderQuality: Equatable, Sendable {
    /// Loss since the report before, 0 to 1.
    var fractionLost: Double
    var roundTrip: Duration?
}

/// What the engine counted.
struct EngineStatistics: Equatable, Sendable {
    /// First bytes of no protocol, or too short for any.
    var unknownDatagrams = 0
    /// DTLS from an address that ICE has not validated, beyond the few that are kept.
    var strayDTLS = 0
    /// RTP or RTCP before keys are there, or from an address that ICE has not validated.
    var strayMedia = 0
    /// SRTP or SRTCP that is forged, damaged or repeated.
    var rejectedMedia = 0
    /// RTP or RTCP that cannot be read after decryption, or of a payload type not negotiated.
    var malformedMedia = 0
    var receivedPackets = 0
    var sentPackets = 0
}
