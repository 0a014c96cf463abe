/// The other side of a voice that answers: makes the offer and takes the answer, as a provider does. For the demo provider and tests.
///
/// Used from anywhere; ended by `close`, by the answering side, or by being let go of.
package final class OfferingVoice: Sendable {
    /// The offer, an SDP, to hand to who answers.
    package let offer: String
    private let runtime: VoiceRuntime

    /// Makes an offer; media flows once it was answered.
    /// - Parameters:
    ///   - device: what is heard by the other side and what hears it; used by this voice alone.
    ///   - onState: each change of the connection, in order, one at a time, on no particular thread.
    /// - Throws: `noNetwork`, `microphoneDenied`, `audioSession`.
    package static func offer(
        device: any AudioDevice, configuration: VoiceConfiguration = VoiceConfiguration(),
        onState: @escaping @Sendable (PBVoiceState) -> Void
    ) async throws(PBVoiceError) -> OfferingVoice {
        let runtime = try VoiceRuntime(side: .offering, isProvider: true, configuration: configuration) { _ in }
        do throws(PBVoiceError) {
            let offer = try await runtime.offer(timeout: .seconds(10))
            try await runtime.openSound(device, session: .app, lease: nil)
            return OfferingVoice(offer: offer, runtime: runtime, onState: onState)
        } catch {
            runtime.close()
            throw error
        }
    }

    private init(offer: String, runtime: VoiceRuntime, onState: @escaping @Sendable (PBVoiceState) -> Void) {
        self.offer = offer
        self.runtime = runtime
        runtime.follow(onState)
    }

    deinit {
        runtime.close()
    }

    /// Sets the answer; once only.
    /// - Throws: `invalidAnswer` where it cannot be used, `cancelled` where the voice is closed.
    package func accept(answer: String) async throws(PBVoiceError) {
        try await runtime.accept(answer: answer, servers: [])
    }

    /// Ends it here; the other side is told. Any number of times.
    package func close() {
        runtime.close()
    }
}

extension VoiceRuntime {
    /// Tells each change of the connection, ends with the voice, says the greeting on each channel that the other side opens, and with
    /// a greeting sends back what comes on it. For the far sides alone: a `PBVoice` reads the events itself.
    func follow(greeting: [String] = [], _ onState: @escaping @Sendable (PBVoiceState) -> Void) {
        let events = events
        Task { [self] in
            for await _ in events.wakes {
                for event in events.drain() {
                    switch event {
                    case .state(let state):
                        if state == .failed || state == .closed { close() }
                        onState(state)
                    case .channelOpened(let label):
                        for text in greeting { send(label: label, isText: true, bytes: Array(text.utf8)) }
                    case .message(let label, let isText, let bytes):
                        if !greeting.isEmpty { send(label: label, isText: isText, bytes: bytes) }
                    case .error, .event, .channelClosed, .messageRefused: break
                    }
                }
            }
        }
    }
}
