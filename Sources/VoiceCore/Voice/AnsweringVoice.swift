import Synchronization

/// The other side of a voice: takes an offer and answers it, as a provider does. For the demo provider and tests.
///
/// Used from anywhere; ended by `close`, by the offering side, or by being let go of.
package final class AnsweringVoice: Sendable {
    /// The answer, an SDP, to hand back to who offered.
    package let answer: String
    private let runtime: VoiceRuntime

    /// Made before it is needed: sockets, candidates, key and certificate of the next answer.
    private static let prepared = Mutex<VoiceRuntime?>(nil)

    /// Makes ready what the next `answer`, which is to have the same configuration, needs. Optional; returns at once.
    package static func prepare(_ configuration: VoiceConfiguration = VoiceConfiguration()) {
        prepared.withLock { prepared in
            if prepared == nil { prepared = try? makeRuntime(configuration) }
        }
    }

    private static func makeRuntime(_ configuration: VoiceConfiguration) throws(PBVoiceError) -> VoiceRuntime {
        try VoiceRuntime(side: .answering, isProvider: true, configuration: configuration) { _ in }
    }

    /// Answers an offer; media flows once the offering side connects.
    /// - Parameters:
    ///   - device: what is heard by the other side and what hears it; used by this voice alone.
    ///   - greeting: text messages for each channel that the other side opens. What comes on it is sent back.
    ///   - onState: each change of the connection, in order, one at a time, on no particular thread.
    /// - Throws: `invalidAnswer` where the offer cannot be answered, `noNetwork`, `microphoneDenied`, `audioSession`.
    package static func answer(
        offer: String, device: any AudioDevice, configuration: VoiceConfiguration = VoiceConfiguration(),
        greeting: [String] = [],
        onState: @escaping @Sendable (PBVoiceState) -> Void
    ) async throws(PBVoiceError) -> AnsweringVoice {
        let ready = prepared.withLock { prepared in
            defer { prepared = nil }
            return prepared
        }
        let runtime = if let ready { ready } else { try makeRuntime(configuration) }
        do throws(PBVoiceError) {
            let answer = try await runtime.answer(offer: offer)
            try await runtime.openSound(device, session: .app, lease: nil)
            return AnsweringVoice(answer: answer, runtime: runtime, greeting: greeting, onState: onState)
        } catch {
            runtime.close()
            throw error
        }
    }

    private init(
        answer: String, runtime: VoiceRuntime, greeting: [String], onState: @escaping @Sendable (PBVoiceState) -> Void
    ) {
        self.answer = answer
        self.runtime = runtime
        runtime.follow(greeting: greeting, onState)
    }

    deinit {
        runtime.close()
    }

    /// Ends it here; the other side is told. Any number of times.
    package func close() {
        runtime.close()
    }
}
