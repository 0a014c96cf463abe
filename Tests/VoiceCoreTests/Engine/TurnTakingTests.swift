import Testing

@testable import VoiceCore

@Suite struct TurnTakingTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func types(_ messages: [JSONValue]) -> [String] {
        messages.map { $0["type"]?.text ?? "?" }
    }

    /// One whose channel is there.
    private func turns() -> TurnTaking {
        var turns = TurnTaking(isByButton: true)
        _ = turns.channelOpened()
        return turns
    }

    @Test func theProvidersTurnDetectionIsSwitchedOffAtTheChannelsBeginning() {
        var turns = TurnTaking(isByButton: true)
        let text = turns.channelOpened().map { String(decoding: $0.encoded, as: UTF8.self) }
        #expect(
            text == [
                #"{"session":{"audio":{"input":{"turn_detection":null}},"type":"realtime"},"type":"session.update"}"#
            ])
    }

    @Test func aTurnIsCommittedOnceSoundFromAfterItsEndWasSentAndAMomentLater() {
        var turns = turns()
        #expect(types(turns.gate(isOpen: true, at: start)) == ["input_audio_buffer.clear"])
        let end = start + .seconds(2)
        #expect(turns.gate(isOpen: false, at: end) == [])
        // What was kept while connecting, and what was in front of the microphone before the end, is still of the turn.
        turns.sent(capturedAt: nil, at: end + .milliseconds(10))
        turns.sent(capturedAt: end - .milliseconds(20), at: end + .milliseconds(20))
        #expect(turns.deadline == nil)
        let last = end + .milliseconds(40)
        turns.sent(capturedAt: end, at: last)
        #expect(turns.deadline == last + TurnTaking.margin)
        turns.sent(capturedAt: end + .milliseconds(20), at: last + .milliseconds(20))
        #expect(turns.deadline == last + TurnTaking.margin)
        #expect(turns.handleTimeout(at: last) == [])
        let committed = turns.handleTimeout(at: last + TurnTaking.margin)
        #expect(types(committed) == ["input_audio_buffer.commit", "response.create"])
        #expect(turns.deadline == nil)
    }

    @Test func aPressIntoTheProvidersAnswerCancelsAndClearsIt() {
        var turns = turns()
        turns.see(.response(isRunning: true))
        turns.see(.providerSpeaks(true))
        #expect(
            types(turns.gate(isOpen: true, at: start))
                == ["response.cancel", "output_audio_buffer.clear", "input_audio_buffer.clear"])
    }

    @Test func whatIsOverIsNotCancelled() {
        var turns = turns()
        turns.see(.response(isRunning: true))
        turns.see(.providerSpeaks(true))
        turns.see(.response(isRunning: false))
        turns.see(.outputCleared)
        #expect(types(turns.gate(isOpen: true, at: start)) == ["input_audio_buffer.clear"])
    }

    @Test func anAnswerThatWasAskedForIsCancelledThoughNoEventSaidThatItBegan() {
        var turns = turns()
        _ = turns.gate(isOpen: true, at: start)
        _ = turns.gate(isOpen: false, at: start + .seconds(1))
        turns.sent(capturedAt: start + .seconds(1), at: start + .seconds(1))
        _ = turns.handleTimeout(at: start + .seconds(2))
        #expect(
            types(turns.gate(isOpen: true, at: start + .seconds(3))) == ["response.cancel", "input_audio_buffer.clear"])
    }

    @Test func aPressBeforeTheCommitGoesOnWithTheSameTurn() {
        var turns = turns()
        _ = turns.gate(isOpen: true, at: start)
        _ = turns.gate(isOpen: false, at: start + .seconds(1))
        #expect(turns.gate(isOpen: true, at: start + .milliseconds(1100)) == [])
        #expect(turns.gate(isOpen: false, at: start + .seconds(2)) == [])
        turns.sent(capturedAt: start + .seconds(2), at: start + .seconds(2))
        #expect(turns.gate(isOpen: true, at: start + .milliseconds(2100)) == [])
        #expect(turns.deadline == nil)
    }

    @Test func aTurnTooShortForAnyWordIsNotCommitted() {
        var turns = turns()
        _ = turns.gate(isOpen: true, at: start)
        _ = turns.gate(isOpen: false, at: start + .milliseconds(60))
        turns.sent(capturedAt: start + .milliseconds(60), at: start + .milliseconds(80))
        #expect(turns.handleTimeout(at: start + .milliseconds(230)) == [])
    }

    @Test func whereTheProviderDetectsTurnsItIsOnlyToldToStop() {
        var turns = TurnTaking(isByButton: false)
        #expect(turns.channelOpened() == [])
        #expect(turns.gate(isOpen: true, at: start) == [])
        #expect(turns.interrupt() == [])
        turns.see(.response(isRunning: true))
        turns.see(.providerSpeaks(true))
        #expect(types(turns.interrupt()) == ["response.cancel", "output_audio_buffer.clear"])
        #expect(turns.interrupt() == [])
        #expect(turns.gate(isOpen: false, at: start + .seconds(1)) == [])
        turns.sent(capturedAt: start + .seconds(2), at: start + .seconds(2))
        #expect(turns.deadline == nil)
    }

    @Test func withoutAChannelNothingIsSaidAndATurnThatGoesOnIsCommittedLater() {
        var turns = TurnTaking(isByButton: true)
        #expect(turns.gate(isOpen: true, at: start) == [])
        _ = turns.channelOpened()
        _ = turns.gate(isOpen: false, at: start + .seconds(3))
        turns.sent(capturedAt: start + .seconds(3), at: start + .seconds(3))
        #expect(
            types(turns.handleTimeout(at: start + .seconds(4))) == ["input_audio_buffer.commit", "response.create"])
    }

    @Test func aTurnThatEndedBeforeTheChannelOpenedIsCommittedOnceItDoes() {
        var turns = TurnTaking(isByButton: true)
        _ = turns.gate(isOpen: true, at: start)
        _ = turns.gate(isOpen: false, at: start + .seconds(2))
        turns.sent(capturedAt: start + .seconds(2), at: start + .seconds(2))
        #expect(turns.deadline == nil)
        #expect(turns.handleTimeout(at: start + .seconds(3)) == [])
        #expect(types(turns.channelOpened()) == ["session.update"])
        #expect(turns.deadline.map { $0 <= start + .seconds(3) } == true)
        #expect(
            types(turns.handleTimeout(at: start + .seconds(3))) == ["input_audio_buffer.commit", "response.create"])
        #expect(turns.deadline == nil)
    }

    @Test func aTurnTooShortForAnyWordIsNotCommittedHoweverLateTheChannelOpens() {
        var turns = TurnTaking(isByButton: true)
        _ = turns.gate(isOpen: true, at: start)
        _ = turns.gate(isOpen: false, at: start + .milliseconds(60))
        turns.sent(capturedAt: start + .milliseconds(60), at: start + .milliseconds(80))
        _ = turns.channelOpened()
        #expect(turns.handleTimeout(at: start + .seconds(5)) == [])
    }
}
