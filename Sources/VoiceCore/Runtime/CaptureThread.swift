internal import Glibc
import Synchronization

/// The capture thread: microphone to Opus.
///
/// ALSA read 10 ms -> `AudioProcessor` (far-end frames due by now first, then this near end) -> gate (muted: zeros) ->
/// `Backlog` (keeps what is said while connecting) -> `OpusEncoder` each 20 ms -> the microphone queue and a wake of the network thread. A local value of its
/// thread. Once it runs it does not allocate.
struct CaptureThread: ~Copyable {
    private let runtime: VoiceRuntime
    private let pulse: Pulse
    private let device: SoundDevice
    private var microphone: SoundDevice.Microphone?
    private var encoder: OpusEncoder
    private var processor = AudioProcessor()
    private var backlog = Backlog()
    private var gate = Gate(isOpen: false)
    private var expectedLoss: ExpectedLoss
    private var lossReport: UInt64 = 0
    private var loss = DeviceLoss("The microphone")
    private let frame = UnsafeMutableBufferPointer<Int16>.allocate(capacity: AudioFormat.frameSampleCount)
    private let farFrame = UnsafeMutableBufferPointer<Int16>.allocate(capacity: AudioFormat.frameSampleCount)
    private let packetPCM = UnsafeMutableBufferPointer<Int16>.allocate(capacity: AudioFormat.packetSampleCount)
    private let packet = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_400, alignment: 16)
    /// How long the latest packet in `packet` is.
    private var packetByteCount = 0
    /// How many packets in a row were silence in a missing microphone's place.
    private var restingCount = 0

    /// 200 ms: more than what an encoder looks back (RFC 6716 2: frames of 60 ms at most, and a lookahead of 5 ms).
    private static let restsAfter = 10

    /// Opens the device, answers `opened`, and runs until the voice closes; then puts the device back.
    static func run(
        _ runtime: VoiceRuntime, pulse: Pulse, device: SoundDevice, session: PBAudioSession, lease: SoundLease?,
        opened: Reply<Void>
    ) {
        if let lease, !lease.take(within: .seconds(2), unless: runtime.isClosing) {
            opened.give(
                .failure(PBVoiceError(.microphoneDenied, "The voice before this one still holds the sound device.")))
            return
        }
        defer { lease?.giveBack() }
        hold(runtime, pulse: pulse, device: device, session: session, opened: opened)
    }

    private static func hold(
        _ runtime: VoiceRuntime, pulse: Pulse, device: SoundDevice, session: PBAudioSession, opened: Reply<Void>
    ) {
        // Handed on, so that nothing here keeps a card open that was pulled out.
        var microphone: SoundDevice.Microphone?
        do {
            microphone = try device.openMicrophone()
        } catch {
            opened.give(.failure(PBVoiceError(.microphoneDenied, error.description, underlying: error)))
            return
        }
        do {
            try device.activate(session)
        } catch {
            opened.give(.failure(PBVoiceError(.audioSession, error.description, underlying: error)))
            return
        }
        defer { device.deactivate() }
        do {
            let configuration = runtime.configuration
            let encoder = try OpusEncoder(
                OpusEncoderSettings(
                    bitsPerSecond: configuration.bitsPerSecond, complexity: configuration.encoderComplexity,
                    expectedLossPercent: configuration.expectedLossPercent))
            var thread = CaptureThread(
                runtime, pulse: pulse, device: device, microphone: &microphone, encoder: encoder)
            try PlaybackThread.start(runtime, device: device)
            opened.give(.success(()))
            thread.loop()
        } catch {
            opened.give(.failure(PBVoiceError(.audioSession, "The voice's sound cannot start: \(error)")))
        }
        let limit = Instant.now + .seconds(1)
        while !runtime.playbackHasEnded.load(ordering: .acquiring), Instant.now < limit { usleep(1_000) }
    }

    /// The encoder comes made: Swift 6.0.3 cannot compile an init that throws here.
    private init(
        _ runtime: VoiceRuntime, pulse: Pulse, device: SoundDevice, microphone: inout SoundDevice.Microphone?,
        encoder: consuming OpusEncoder
    ) {
        self.runtime = runtime
        self.pulse = pulse
        self.device = device
        self.microphone = microphone
        microphone = nil
        self.encoder = encoder
        expectedLoss = ExpectedLoss(
            leastPercent: runtime.configuration.expectedLossPercent,
            bitsPerSecond: runtime.configuration.bitsPerSecond)
    }

    deinit {
        frame.deallocate()
        farFrame.deallocate()
        packetPCM.deallocate()
        packet.deallocate()
    }

    private mutating func loop() {
        while !runtime.isClosing.load(ordering: .acquiring) {
            pulse.beat(at: .now)
            guard let capturedAt = read() else { continue }
            hearFarEnd(until: capturedAt)
            // Silence in the microphone's place needs no processing: waiting for a card is to cost next to nothing.
            if microphone != nil { processor?.nearEnd(frame, capturedAt: capturedAt) }
            let passed = gate.apply(to: frame, isOpen: !runtime.isMuted.load(ordering: .relaxed))
            let isLive = runtime.isLive.load(ordering: .relaxed)
            backlog.take(UnsafeBufferPointer(frame), passed, isLive: isLive)
            // One packet of 20 ms in 10 ms at most: what was kept is caught up with, and nobody gets it as a burst.
            if isLive, backlog.next(into: packetPCM) { encode(capturedAt) }
        }
    }

    /// One frame in `frame`: the microphone's, or silence in its pace while there is none.
    private mutating func read() -> Instant? {
        do {
            if let microphone { return try microphone(frame) }
        } catch {
            lose(error)
        }
        if loss.isDue(at: .now) {
            do {
                microphone = try device.openMicrophone()
                if let diagnostic = loss.opened() { runtime.diagnose(diagnostic) }
            } catch {
                lose(error)
            }
        }
        usleep(10_000)
        frame.update(repeating: 0)
        return .now
    }

    private mutating func lose(_ error: AudioDeviceError) {
        microphone = nil
        if let diagnostic = loss.lost(error, at: .now) { runtime.diagnose(diagnostic) }
    }

    private mutating func hearFarEnd(until now: Instant) {
        while let far = runtime.farEnd.pop(into: UnsafeMutableRawBufferPointer(farFrame)) {
            if microphone != nil { processor?.farEnd(UnsafeBufferPointer(farFrame), playsAt: far.header) }
        }
    }

    /// The other side says how much of what was sent it has lost: the encoder is set to it.
    private mutating func heedReport() {
        let latest = runtime.lossReport.load(ordering: .relaxed)
        guard latest != lossReport else { return }
        lossReport = latest
        if expectedLoss.report(lost: LossReport(bits: latest).lost) { encoder.follow(expectedLoss) }
    }

    /// - Parameter capturedAt: when the newest sample was in front of the microphone.
    private mutating func encode(_ capturedAt: Instant) {
        // By an encoder that has come to rest silence is the same packet each time: waiting for a card is to cost next to nothing.
        heedReport()
        let isSilence = microphone == nil && packetPCM.allSatisfy { $0 == 0 }
        if !isSilence || restingCount < Self.restsAfter {
            guard let byteCount = try? encoder.encode(UnsafeBufferPointer(packetPCM), into: packet) else { return }
            packetByteCount = byteCount
        }
        restingCount = isSilence ? restingCount + 1 : 0
        // What was said while connecting waited for the voice, not for the way.
        let isFresh = backlog.sampleCount < packetPCM.count
        let length = Duration.milliseconds(20)
        runtime.microphone.push(
            MicrophonePacket(sampleCount: packetPCM.count, capturedAt: isFresh ? capturedAt - length : nil),
            UnsafeRawBufferPointer(rebasing: packet[..<packetByteCount]))
        runtime.mailbox.wake()
    }
}
