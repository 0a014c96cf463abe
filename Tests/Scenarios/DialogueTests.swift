import Testing

@testable import Support
@testable import VoiceCore

/// What a provider says on the event channel of a whole call, and what it is told.
struct DialogueTests {
    private func call(seed: UInt64, isByButton: Bool = false) throws -> VirtualCall {
        let call = try VirtualCall(seed: seed, turns: TurnTaking(isByButton: isByButton))
        try call.connect()
        call.network.run(.milliseconds(200))
        return call
    }

    private func say(_ text: String, in call: VirtualCall) {
        call.provider.handle(
            .message(label: "oai-events", isText: true, bytes: Array(text.utf8)), at: call.network.now)
        call.network.run(.milliseconds(100))
    }

    /// The types of the messages that the provider got.
    private func heard(by provider: VirtualVoice) -> [String] {
        provider.events.compactMap { event in
            guard case .message(_, true, let bytes) = event else { return nil }
            return JSONValue(reading: bytes)?["type"]?.text
        }
    }

    @Test func anErrorIsToldOnceAndTheVoiceGoesOn() throws {
        let call = try call(seed: 41)
        say(#"{"type":"error","error":{"code":"invalid_value","message":"No."}}"#, in: call)
        let error = EngineEvent.provider(.error(ProviderError(code: "invalid_value", message: "No.")))
        #expect(call.kiosk.events.filter { $0 == error }.count == 1)
        #expect(call.kiosk.events.last == error)
    }

    @Test func anExpiredSessionEndsTheVoiceOnceThoughTheChannelGoesToo() throws {
        let call = try call(seed: 42)
        say(#"{"type":"error","error":{"code":"session_expired","message":"Over."}}"#, in: call)
        call.provider.handle(.close, at: call.network.now)
        call.network.run(.seconds(1))
        #expect(call.kiosk.events.contains(.provider(.sessionEnded(isExpiry: true))))
        #expect(call.kiosk.events.filter { $0 == .closedByPeer }.count == 1)
        #expect(call.kiosk.hasEnded)
    }

    @Test func unknownMessagesAreHarmless() throws {
        let call = try call(seed: 43)
        for text in ["", "{", "[1]", #"{"type":"never.heard.of"}"#] { say(text, in: call) }
        #expect(call.kiosk.events.last == .provider(.event(.unknown(type: "never.heard.of"))))
        #expect(!call.kiosk.events.contains(.closedByPeer))
    }

    @Test func byTheButtonATurnIsCommittedAfterItsSoundAndAPressCancelsTheAnswer() throws {
        let call = try call(seed: 44, isByButton: true)
        call.kiosk.handle(.gate(isOpen: true), at: call.network.now)
        call.speakBothWays(for: .seconds(1))
        call.kiosk.handle(.gate(isOpen: false), at: call.network.now)
        call.speakBothWays(for: .seconds(1))
        say(#"{"type":"output_audio_buffer.started"}"#, in: call)
        call.kiosk.handle(.gate(isOpen: true), at: call.network.now)
        call.network.run(.milliseconds(200))
        #expect(
            heard(by: call.provider) == [
                "session.update", "input_audio_buffer.clear", "input_audio_buffer.commit", "response.create",
                "response.cancel", "output_audio_buffer.clear", "input_audio_buffer.clear",
            ])
    }

    @Test func whatTheProviderTakesBackIsTold() throws {
        let call = try call(seed: 45)
        say(#"{"type":"output_audio_buffer.cleared"}"#, in: call)
        #expect(call.kiosk.events.last == .provider(.event(.outputCleared)))
    }
}
