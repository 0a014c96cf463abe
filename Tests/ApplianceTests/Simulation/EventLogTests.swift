import Testing
import VoiceCore

@testable import Appliance

@Suite struct EventLogTests {
    @Test(
        arguments: [
            (.ready, #"{"at":12.000000345,"event":"ready"}"#),
            (.button(isPressed: true), #"{"at":12.000000345,"change":"pressed","event":"button"}"#),
            (.button(isPressed: false), #"{"at":12.000000345,"change":"released","event":"button"}"#),
            (.state(.disconnected), #"{"at":12.000000345,"event":"state","state":"disconnected"}"#),
            (.voice(id: "a\"\\\u{1}\né"), #"{"at":12.000000345,"event":"voice","id":"a\"\\\u0001\né"}"#),
            (.led(.open), #"{"at":12.000000345,"event":"led","fault":null,"heard":true,"pattern":"open"}"#),
            (
                .led(.fault(.noNetwork)),
                #"{"at":12.000000345,"event":"led","fault":"no_network","heard":false,"pattern":"fault"}"#
            ),
            (.tone(.limit), #"{"at":12.000000345,"event":"tone","name":"limit"}"#),
            (.microphone(works: true), #"{"at":12.000000345,"event":"microphone","works":true}"#),
            (.firstSound, #"{"at":12.000000345,"event":"first_sound"}"#),
            (
                .level(SoundMeter.Reading(microphoneDBFS: -20.149, speakerDBFS: -100)),
                #"{"at":12.000000345,"event":"level","microphone_dbfs":-20.1,"speaker_dbfs":-100.0}"#
            ),
            (
                .error(code: "refused", message: "No."),
                #"{"at":12.000000345,"code":"refused","event":"error","message":"No."}"#
            ),
            (.closed(id: "v", seconds: 12.5), #"{"at":12.000000345,"event":"closed","id":"v","seconds":12.5}"#),
            (.closed(id: "v", seconds: nil), #"{"at":12.000000345,"event":"closed","id":"v","seconds":null}"#),
            (.closed(id: "v", seconds: .nan), #"{"at":12.000000345,"event":"closed","id":"v","seconds":null}"#),
        ] as [(Happening, String)])
    func eachHappeningIsALineOfJSON(happening: Happening, line: String) {
        let written = EventLog.line(happening, at: Instant(nanoseconds: 12_000_000_345))
        #expect(written.map { String(decoding: $0, as: UTF8.self) } == line)
    }

    @Test func whatIsSaidIsNotWritten() {
        let line = VoiceLine(role: .user, id: "", step: .added("Hello."))
        #expect(EventLog.line(.line(line), at: Instant(nanoseconds: 0)) == nil)
    }
}
