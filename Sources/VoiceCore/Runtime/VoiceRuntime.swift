import Synchronization

/// The threads of one voice and what passes between them.
///
/// Made before it is needed, so that its sockets, key and certificate are there at the press. Threads and tasks hold it, it
/// holds none of them; `close` ends them all. Everything here may be called from anywhere.
final class VoiceRuntime: Sendable {
    let configuration: VoiceConfiguration
    /// Whether this is a provider's side: it hears all of what was said while it was being called, and reads no events.
    let isProvider: Bool
    let events = EventQueue()
    let diagnose: @Sendable (VoiceDiagnostic) -> Void

    let mailbox: Mailbox<NetworkCommand>
    /// Encoded by capture, sent by network.
    let microphone = FrameQueue<MicrophonePacket>(slotCount: 16, slotByteCount: 1_400, empty: MicrophonePacket())
    /// Received by network, played by playback.
    let speaker = FrameQueue<SpeakerPacket>(slotCount: 64, slotByteCount: 1_500, empty: SpeakerPacket())
    /// Played by playback with its play time, what the echo canceller on capture compares with.
    let farEnd = FrameQueue<Instant>(
        slotCount: 32, slotByteCount: 2 * AudioFormat.frameSampleCount, empty: Instant(nanoseconds: 0))

    /// Whether the provider is to hear silence.
    let isMuted = Atomic(false)
    /// Whether packets can be sent: set by network, read by capture.
    let isLive = Atomic(false)
    /// Whether what waits to be played is void: set by network, taken by playback.
    let isFlushWanted = Atomic(false)
    /// The other side's latest report of loss (`LossReport`): set by network, read by capture.
    let lossReport = Atomic(LossReport().bits)
    /// Set once, read by all.
    let isClosing = Atomic(false)
    /// Set by playback when the speaker is closed.
    let playbackHasEnded = Atomic(true)
    private let unanswered = Mutex<[@Sendable (PBVoiceError) -> Void]>([])

    static let closedError = PBVoiceError(.cancelled, "The voice was closed before it was connected.")

    /// Starts the network thread, which makes ready what the next offer or answer needs.
    /// - Throws: `invalidConfiguration` where the system gives no thread or descriptor.
    init(
        side: VoiceSide, isProvider: Bool = false, configuration: VoiceConfiguration,
        diagnose: @escaping @Sendable (VoiceDiagnostic) -> Void
    ) throws(PBVoiceError) {
        self.configuration = configuration
        self.isProvider = isProvider
        self.diagnose = diagnose
        do {
            mailbox = try Mailbox()
            try RealtimeThread.start("tp-network", priority: .network, onDiagnostic: diagnose) { [self] pulse in
                NetworkThread.run(self, side: side, pulse: pulse)
            }
        } catch {
            throw PBVoiceError(.invalidConfiguration, "The voice's network thread cannot start: \(error).")
        }
    }

    /// Opens the microphone, sets the session up and starts the speaker, on threads of their own.
    /// - Throws: `microphoneDenied`, `audioSession`, or `cancelled` where the voice is closed meanwhile.
    func openSound(
        _ device: any AudioDevice, session: PBAudioSession, lease: SoundLease?
    ) async throws(PBVoiceError) {
        try await ask { reply in start(SoundDevice(device), session: session, lease: lease, reply: reply) }
    }

    /// - Parameters:
    ///   - timeout: how long to wait at most for a network address to offer.
    ///   - reach: what may be used beside the sockets; nil: what the configuration has.
    func offer(timeout: Duration, reach: VoiceReach? = nil) async throws(PBVoiceError) -> String {
        let reach = reach ?? VoiceReach(configuration)
        return try await ask { reply in mailbox.post(.describe(.offer, within: timeout, reach, reply)) }
    }

    /// - Parameter servers: those that came with the answer.
    func accept(answer: String, servers: [ICEServer]) async throws(PBVoiceError) {
        try await ask { reply in mailbox.post(.accept(answer: answer, servers: servers, reply)) }
    }

    /// - Parameters: as those of `offer`.
    func answer(
        offer: String, timeout: Duration = .seconds(10), reach: VoiceReach? = nil
    ) async throws(PBVoiceError) -> String {
        let reach = reach ?? VoiceReach(configuration)
        return try await ask { reply in mailbox.post(.describe(.answer(to: offer), within: timeout, reach, reply)) }
    }

    /// Shuts the microphone's gate, or opens it.
    func mute(_ muted: Bool) {
        isMuted.store(muted, ordering: .relaxed)
        mailbox.post(.gate(isOpen: !muted))
    }

    /// Sends a message on a data channel; `messageRefused` comes where it cannot be.
    func send(label: String, isText: Bool, bytes: [UInt8]) {
        mailbox.post(.message(label: label, isText: isText, bytes: bytes))
    }

    /// Ends the voice: at once for whoever waits, within a moment for the threads. Any number of times.
    func close() {
        isClosing.store(true, ordering: .releasing)
        isLive.store(false, ordering: .releasing)
        mailbox.post(.close)
        let unanswered = unanswered.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting
        }
        for giveUp in unanswered { giveUp(Self.closedError) }
    }

    /// One question at a time to a thread; answered by the thread or by `close`.
    private func ask<Value: Sendable>(_ post: (Reply<Value>) -> Void) async throws(PBVoiceError) -> Value {
        let reply = Reply<Value>()
        unanswered.withLock { $0 = [{ reply.give(.failure($0)) }] }
        if isClosing.load(ordering: .acquiring) { reply.give(.failure(Self.closedError)) }
        post(reply)
        return try await reply.value()
    }

    private func start(
        _ device: SoundDevice, session: PBAudioSession, lease: SoundLease?, reply: Reply<Void>
    ) {
        do {
            try RealtimeThread.start("tp-capture", priority: .sound, onDiagnostic: diagnose) { [self] pulse in
                CaptureThread.run(
                    self, pulse: pulse, device: device, session: session, lease: lease, opened: reply)
            }
        } catch {
            reply.give(.failure(PBVoiceError(.audioSession, "The microphone's thread cannot start: \(error).")))
        }
    }
}

/// What a voice may use to reach the other side beside its own sockets.
struct VoiceReach: Sendable {
    var servers: [ICEServer] = []
    var proxy: VoiceProxy?

    init(_ configuration: VoiceConfiguration) {
        servers = configuration.iceServers
        proxy = configuration.proxy
    }
}

/// The description that is wanted of a voice.
enum WantedDescription: Sendable {
    case offer
    case answer(to: String)
}

/// What the network thread can be told.
enum NetworkCommand: Sendable {
    /// Gives a description once there is an address to put into it and the servers were asked.
    case describe(WantedDescription, within: Duration, VoiceReach, Reply<String>)
    case accept(answer: String, servers: [ICEServer], Reply<Void>)
    case gate(isOpen: Bool)
    case interrupt
    case text([UInt8])
    case message(label: String, isText: Bool, bytes: [UInt8])
    /// The name of a server or of the proxy was looked up.
    case found(host: String, [IPAddress])
    case close
}

/// What goes with an encoded packet on its way to the network.
struct MicrophonePacket: BitwiseCopyable, Sendable {
    /// Samples at 48 kHz that the packet holds.
    var sampleCount = 0
    /// When the first of them was in front of the microphone; nil where it waited longer than the voice's own way takes.
    var capturedAt: Instant?
}

/// A report of loss in one word, so that it passes between threads without a lock; numbered, so that each counts once.
struct LossReport {
    private(set) var bits: UInt64 = 0

    init() {}

    init(bits: UInt64) {
        self.bits = bits
    }

    /// The report after this one.
    /// - Parameter lost: a share, 0 to 1.
    func followed(by lost: Double) -> LossReport {
        LossReport(bits: (bits >> 32 &+ 1) << 32 | UInt64(max(0, min(1, lost)) * 1_000_000))
    }

    /// The share of packets lost, 0 to 1.
    var lost: Double { Double(bits & 0xFFFF_FFFF) / 1_000_000 }
}

/// What goes with a received packet on its way to the playout.
struct SpeakerPacket: BitwiseCopyable, Sendable {
    var sequenceNumber: UInt16 = 0
    var timestamp: UInt32 = 0
    var ssrc: UInt32 = 0
    var arrivedAt = Instant(nanoseconds: 0)
}
