import Testing

@testable import VoiceCore

/// What a provider can make wait for a main actor that does not come to it.
@Suite struct EventQueueTests {
    private func message(_ byteCount: Int) -> RuntimeEvent {
        .message(label: "a", isText: true, bytes: [UInt8](repeating: 0x61, count: byteCount))
    }

    private func counts(_ events: [RuntimeEvent]) -> (messages: Int, states: [PBVoiceState]) {
        var (messages, states) = (0, [PBVoiceState]())
        for event in events {
            switch event {
            case .state(let state): states.append(state)
            case .message, .event, .channelOpened, .channelClosed, .messageRefused: messages += 1
            case .error: break
            }
        }
        return (messages, states)
    }

    @Test func messagesAreCutOffAtTheirNumberAndStatesAreNot() {
        let queue = EventQueue()
        queue.push(.state(.connected))
        for _ in 0..<1_000 { queue.push(message(1)) }
        queue.push(.state(.disconnected))
        queue.push(.state(.connected))
        let (messages, states) = counts(queue.drain())
        #expect(messages == 256)
        #expect(states == [.connected, .disconnected, .connected])
        #expect(queue.droppedMessageCount == 744)
    }

    @Test func messagesAreCutOffAtTheirSize() {
        let queue = EventQueue()
        for _ in 0..<9 { queue.push(message(262_143)) }
        #expect(counts(queue.drain()).messages == 8)
        queue.push(message(2_097_152))
        #expect(counts(queue.drain()).messages == 0)
        #expect(queue.droppedMessageCount == 2)
    }

    @Test func wordsOfTheConversationCountAsMessagesToo() {
        let queue = EventQueue()
        for _ in 0..<1_000 { queue.push(.event(.visitorSpeaks(true))) }
        let line = VoiceLine(role: .user, id: "a", step: .ended(String(repeating: "a", count: 2_097_152)))
        queue.push(.event(.line(line)))
        #expect(counts(queue.drain()).messages == 256)
        queue.push(.event(.line(line)))
        #expect(counts(queue.drain()).messages == 0)
    }

    @Test func whatWasTakenMakesRoomForMore() {
        let queue = EventQueue()
        for _ in 0..<3 {
            for _ in 0..<256 { queue.push(message(1)) }
            #expect(counts(queue.drain()).messages == 256)
        }
        #expect(queue.droppedMessageCount == 0)
    }
}
