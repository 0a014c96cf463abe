import Testing

@testable import VoiceCore

@Suite struct VoiceDiagnosticTests {
    @Test func messagesThatAreNoEventsAreAFigureOfTheVoice() {
        #expect("\(VoiceDiagnostic.unreadableMessages(1))" == "The provider sent 1 message that is no event.")
        #expect("\(VoiceDiagnostic.unreadableMessages(3))" == "The provider sent 3 messages that are no events.")
        #expect(VoiceDiagnostic.unreadableMessages(1).isFigure)
    }
}
