import Testing

@testable import VoiceCore

@Suite struct ProviderMessageTests {
    private func read(_ text: String) -> ProviderMessage {
        ProviderMessage(reading: Array(text.utf8))
    }

    private struct Example {
        var text: String
        var message: ProviderMessage
    }

    private static let examples: [Example] = {
        var examples: [Example] = []
        func add(_ text: String, _ event: VoiceEvent) {
            examples.append(Example(text: text, message: .event(event)))
        }
        func line(_ text: String, _ role: VoiceLine.Role, _ id: String, _ step: VoiceLine.Step) {
            add(text, .line(VoiceLine(role: role, id: id, step: step)))
        }
        add(
            #"{"type":"session.created","event_id":"e1","session":{"id":"s","expires_at":1800000000,"tools":[]}}"#,
            .session(expiresAt: 1_800_000_000))
        add(#"{"type":"session.started"}"#, .session(expiresAt: nil))
        add(#"{"type":"input_audio_buffer.speech_started","audio_start_ms":20,"item_id":"i"}"#, .visitorSpeaks(true))
        add(#"{"type":"input_audio_buffer.speech_stopped"}"#, .visitorSpeaks(false))
        add(#"{"type":"response.created","response":{}}"#, .response(isRunning: true))
        add(#"{"type":"response.done","response":{"status":"cancelled"}}"#, .response(isRunning: false))
        add(#"{"type":"output_audio_buffer.started","response_id":"r"}"#, .providerSpeaks(true))
        add(#"{"type":"output_audio_buffer.stopped"}"#, .providerSpeaks(false))
        add(#"{"type":"output_audio_buffer.cleared"}"#, .outputCleared)
        add(#"{"type":"rate_limits.updated","rate_limits":[]}"#, .unknown(type: "rate_limits.updated"))
        line(
            #"{"type":"response.output_audio_transcript.delta","item_id":"i","delta":"Good "}"#, .assistant, "i",
            .added("Good "))
        line(#"{"type":"response.audio_transcript.delta","delta":"Good "}"#, .assistant, "", .added("Good "))
        line(
            #"{"type":"response.output_audio_transcript.done","item_id":"i","transcript":"Good day."}"#, .assistant,
            "i", .ended("Good day."))
        line(
            #"{"type":"conversation.item.input_audio_transcription.delta","item_id":"j","delta":"Hel"}"#, .user, "j",
            .added("Hel"))
        line(
            #"{"type":"conversation.item.input_audio_transcription.completed","item_id":"j","transcript":"Hello."}"#,
            .user, "j", .ended("Hello."))
        line(
            #"{"label":"rtvi-ai","type":"bot-transcription","data":{"text":"Good day."}}"#, .assistant, "",
            .ended("Good day."))
        line(
            #"{"label":"rtvi-ai","type":"user-transcription","data":{"text":"Hello","final":true}}"#, .user, "",
            .ended("Hello"))
        add(
            #"{"label":"rtvi-ai","type":"user-transcription","data":{"text":"Hel","final":false}}"#,
            .unknown(type: "user-transcription"))
        return examples
    }()

    @Test func whatProvidersSendIsRead() {
        for example in Self.examples { #expect(read(example.text) == example.message, "\(example.text)") }
    }

    private static let errors: [(text: String, code: String, message: String)] = [
        (
            #"{"type":"error","event_id":"e","error":{"type":"invalid_request_error","code":"invalid_value","message":"No."}}"#,
            "invalid_value", "No."
        ),
        (#"{"type":"error","error":{"type":"server_error","code":null,"message":"Oh."}}"#, "server_error", "Oh."),
        (#"{"type":"error","code":"rate_limit_exceeded","message":"Slow."}"#, "rate_limit_exceeded", "Slow."),
        (#"{"type":"error","data":{"error":"It broke.","fatal":false}}"#, "unknown_error", "It broke."),
        (#"{"type":"error"}"#, "unknown_error", "It said no more than that."),
    ]

    @Test func errorsAreReadInBothTheirForms() {
        for (text, code, message) in Self.errors {
            #expect(read(text) == .error(ProviderError(code: code, message: message)), "\(text)")
        }
    }

    @Test(arguments: [
        #"{"type":"error","error":{"type":"invalid_request_error","code":"session_expired","message":"It is over."}}"#,
        #"{"type":"error","code":"session_expired"}"#,
    ])
    func anExpiredSessionIsItsEnd(text: String) {
        #expect(read(text) == .sessionEnded(isExpiry: true))
    }

    @Test func aClosedSessionIsOver() {
        #expect(read(#"{"type":"session.closed","reason":"idle"}"#) == .sessionEnded(isExpiry: false))
    }

    @Test(arguments: ["", "ping", "[]", "{}", #"{"type":7}"#, #"{"type":"error""#, "\u{0}", "{\"type\":\"a\u{0}"])
    func whatIsNoMessageIsUnreadable(text: String) {
        #expect(read(text) == .unreadable)
    }

    @Test func aMessageOfTheRightTypeWithTheWrongPartsIsUnknown() {
        for text in [#"{"type":"response.audio_transcript.delta","delta":7}"#, #"{"type":"bot-transcription"}"#] {
            guard case .event(.unknown) = read(text) else {
                Issue.record("\(text) was taken for something else")
                continue
            }
        }
    }

    @Test func whatIsTooLongIsNotRead() {
        let padding = String(repeating: "a", count: ProviderMessage.byteLimit)
        #expect(read(#"{"type":"error","message":"\#(padding)"}"#) == .unreadable)
    }

    @Test func aLongTypeIsCut() {
        let type = String(repeating: "x", count: 1000)
        #expect(read(#"{"type":"\#(type)"}"#) == .event(.unknown(type: String(type.prefix(64)))))
    }
}
