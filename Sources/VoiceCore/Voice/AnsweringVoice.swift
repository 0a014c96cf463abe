/// The other side of a voice: takes an offer and answers it, as a provider does. For the demo provider and tests.
package final class AnsweringVoice: Sendable {
    /// The answer, an SDP, to hand back to who offered.
    package let answer: String

    /// Answers an offer; media flows once the offering side connects.
    /// - Parameters:
    ///   - device: what is heard by the other side and what hears it; used by this voice alone.
    ///   - onState: each change of the connection, in order, from a thread of the voice's own.
    /// - Throws: `invalidAnswer` where the offer cannot be answered, `noNetwork`, `microphoneDenied`, `audioSession`.
    package static func answer(
        offer: String, device: any AudioDevice, configuration: VoiceConfiguration = VoiceConfiguration(),
        onState: @escaping @Sendable (PBVoiceState) -> Void
    ) async throws(PBVoiceError) -> AnsweringVoice {
        throw PBVoiceError(.invalidConfiguration, "The answering side is not built yet.")
    }

    private init(answer: String) {
        self.answer = answer
    }

    /// Ends it here; the other side is told.
    package func close() {}
}
