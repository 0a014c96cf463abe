import Testing

@testable import VoiceCore

@Suite struct ProviderDialogueTests {
    @Test(arguments: ["You wrote: hello", "[1]", "{\"no\":\"type\"}", ""])
    func whatIsNoEventIsCountedAndChangesNothing(text: String) {
        var dialogue = ProviderDialogue(turns: TurnTaking(isByButton: false))
        _ = dialogue.opened("oai-events")
        let outcome = dialogue.heard(Array(text.utf8))
        #expect(outcome == ProviderDialogue.Outcome())
        #expect(dialogue.unreadableCount == 1)
    }
}
