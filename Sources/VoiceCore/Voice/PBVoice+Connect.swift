extension PBVoice {
    /// Made before it is needed, so that a press finds sockets, candidates, key and certificate ready.
    private static var prepared: (runtime: VoiceRuntime, side: VoiceSide)?
    /// The voice that `connect` is opening, the latest if there are several.
    private static weak var opening: VoiceRuntime?
    /// Whether the voice that is being opened, or else the next one, is muted.
    private static var isMutedWhileConnecting = false
    /// The servers that the backend named last.
    static var learnt: [ICEServer] = []
    /// One voice at a time holds the host's device.
    private static let soundLease = SoundLease()

    /// Makes ready what the next `connect` needs: sockets, candidates, a key and certificate. Optional; returns at once.
    /// - Parameter answering: whether it is the `connect` that answers an offer.
    public static func prepare(answering: Bool = false) {
        let side: VoiceSide = answering ? .answering : .offering
        if let prepared, prepared.side == side, !prepared.runtime.isClosing.load(ordering: .acquiring) { return }
        prepared?.runtime.close()
        prepared = (try? makeRuntime(side)).map { ($0, side) }
    }

    /// As `mute`, for the voice that `connect` is opening and has not returned yet; where there is none, for the next one. What is
    /// said unmuted while connecting is kept, 10 s at most, and sent once the voice is connected; muting forgets nothing of
    /// it. Each voice starts unmuted unless this says otherwise for it.
    public static func muteWhileConnecting(_ muted: Bool) {
        isMutedWhileConnecting = muted
        opening?.mute(muted)
    }

    /// Whether there is an address to be reached at, on the interfaces that the configuration allows. Asks the kernel; returns at once.
    public static var hasNetwork: Bool { !NetworkInterfaces.usable(configuration: configuration).isEmpty }

    /// Opens a voice: asks for the microphone, sets the audio session up, makes the offer, hands it to `start`, sets the
    /// answer, and returns. The voice is connected when `onState` says so.
    ///
    /// - Parameters:
    ///   - start: the round trip to your backend: the offer (an SDP) in, the voice and its answer out.
    ///   - audioSession: who sets the sound device up and puts it back.
    ///   - iceTimeout: how long the offer's candidates are gathered at most.
    ///   - onError: the provider's word that something went wrong in the voice, or why it failed.
    ///   - onState: the connection's state each time it changes.
    /// - Throws: `microphone_denied` (nothing was posted), `audio_session`, `no_network`, `refused` (`start` threw;
    ///   its error is `underlying`), `invalid_answer`, `cancelled`, `invalid_configuration`. Whatever was opened is closed.
    public static func connect(
        start: @escaping @MainActor (_ sdp: String) async throws -> PBStartedVoice,
        audioSession: PBAudioSession = .managed,
        iceTimeout: Duration = .seconds(10),
        onError: @escaping @MainActor (PBVoiceError) -> Void = { _ in },
        onState: @escaping @MainActor (PBVoiceState) -> Void = { _ in }
    ) async throws(PBVoiceError) -> PBVoice {
        try await connect(.offering, onError: onError, onState: onState) { runtime, device in
            await open(runtime, device, start: start, audioSession: audioSession, iceTimeout: iceTimeout)
        }
    }

    /// Opens a voice with a backend that makes the offer itself and takes our answer. Otherwise as the other `connect`.
    ///
    /// - Parameters:
    ///   - offered: asks your backend for a voice: its id, and the provider's offer as its `sdp`.
    ///   - answer: hands the answer (an SDP) to that voice back to your backend.
    ///   - audioSession: who sets the sound device up and puts it back.
    ///   - onError: the provider's word that something went wrong in the voice, or why it failed.
    ///   - onState: the connection's state each time it changes.
    /// - Throws: as the other `connect`; `refused` where `offered` or `answer` threw, `invalid_answer` for an offer that cannot be
    ///   answered.
    public static func connect(
        offered: @escaping @MainActor () async throws -> PBStartedVoice,
        answer: @escaping @MainActor (_ voice: PBStartedVoice, _ sdp: String) async throws -> Void,
        audioSession: PBAudioSession = .managed,
        onError: @escaping @MainActor (PBVoiceError) -> Void = { _ in },
        onState: @escaping @MainActor (PBVoiceState) -> Void = { _ in }
    ) async throws(PBVoiceError) -> PBVoice {
        try await connect(.answering, onError: onError, onState: onState) { runtime, device in
            await open(runtime, device, offered: offered, answer: answer, audioSession: audioSession)
        }
    }

    private static func connect(
        _ side: VoiceSide, onError: @escaping @MainActor (PBVoiceError) -> Void,
        onState: @escaping @MainActor (PBVoiceState) -> Void,
        opening work: @MainActor (VoiceRuntime, any AudioDevice) async -> Result<PBStartedVoice, PBVoiceError>
    ) async throws(PBVoiceError) -> PBVoice {
        guard let device = audioDevice else {
            throw PBVoiceError(.invalidConfiguration, "Set PBVoice.audioDevice before the first connect.")
        }
        let runtime = try takeRuntime(side)
        runtime.mute(isMutedWhileConnecting)
        opening = runtime
        defer {
            if opening === runtime || opening == nil {
                opening = nil
                isMutedWhileConnecting = false
            }
        }
        let result = await withTaskCancellationHandler {
            await work(runtime, device)
        } onCancel: {
            runtime.close()
        }
        switch result {
        case .success(let started):
            return PBVoice(id: started.id, runtime: runtime, onError: onError, onState: onState)
        case .failure(let error):
            runtime.close()
            throw error
        }
    }

    private static func open(
        _ runtime: VoiceRuntime, _ device: any AudioDevice,
        start: @MainActor (String) async throws -> PBStartedVoice, audioSession: PBAudioSession, iceTimeout: Duration
    ) async -> Result<PBStartedVoice, PBVoiceError> {
        do throws(PBVoiceError) {
            try await runtime.openSound(device, session: audioSession, lease: soundLease)
            let offer = try await runtime.offer(timeout: iceTimeout, reach: reach)
            let started = try await ask { try await start(offer) }
            if Task.isCancelled { throw VoiceRuntime.closedError }
            learnt = started.iceServers
            try await runtime.accept(answer: started.sdp, servers: started.iceServers)
            if Task.isCancelled { throw VoiceRuntime.closedError }
            return .success(started)
        } catch {
            return .failure(error)
        }
    }

    private static func open(
        _ runtime: VoiceRuntime, _ device: any AudioDevice, offered: @MainActor () async throws -> PBStartedVoice,
        answer: @MainActor (PBStartedVoice, String) async throws -> Void, audioSession: PBAudioSession
    ) async -> Result<PBStartedVoice, PBVoiceError> {
        do throws(PBVoiceError) {
            guard hasNetwork else {
                throw PBVoiceError(
                    .noNetwork, "No network interface is up with an address; look at the cable or the wireless.")
            }
            try await runtime.openSound(device, session: audioSession, lease: soundLease)
            let started = try await ask { try await offered() }
            if Task.isCancelled { throw VoiceRuntime.closedError }
            learnt = started.iceServers
            let sdp = try await runtime.answer(offer: started.sdp, reach: reach)
            try await ask { try await answer(started, sdp) }
            if Task.isCancelled { throw VoiceRuntime.closedError }
            return .success(started)
        } catch {
            return .failure(error)
        }
    }

    /// What the voice that is being opened may use: the runtime may have been made before this was known.
    private static var reach: VoiceReach {
        var reach = VoiceReach(configuration)
        reach.servers += learnt.filter { !reach.servers.contains($0) }
        return reach
    }

    private static func ask<Value>(_ backend: @MainActor () async throws -> Value) async throws(PBVoiceError) -> Value {
        do {
            return try await backend()
        } catch {
            if Task.isCancelled { throw VoiceRuntime.closedError }
            throw PBVoiceError(.refused, "The backend did not start a voice: \(error)", underlying: error)
        }
    }

    private static func takeRuntime(_ side: VoiceSide) throws(PBVoiceError) -> VoiceRuntime {
        defer { prepared = nil }
        if let prepared {
            if prepared.side == side, !prepared.runtime.isClosing.load(ordering: .acquiring) { return prepared.runtime }
            prepared.runtime.close()
        }
        return try makeRuntime(side)
    }

    private static func makeRuntime(_ side: VoiceSide) throws(PBVoiceError) -> VoiceRuntime {
        let onDiagnostic = onDiagnostic
        return try VoiceRuntime(side: side, configuration: configuration) { onDiagnostic?($0) }
    }
}
