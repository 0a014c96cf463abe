import Dispatch
import Testing

@testable import VoiceCore

@Suite struct PulseTests {
    @Test func aThreadsPulseLivesAsLongAsTheThreadAndShowsItsLastTurn() throws {
        let (mayEnd, hasBeaten) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try RealtimeThread.start("tp-pulse-test", priority: .network, onDiagnostic: { _ in }) { pulse in
            pulse.beat(at: Instant(nanoseconds: 42))
            hasBeaten.signal()
            mayEnd.wait()
        }
        hasBeaten.wait()
        let living = PBVoice.threads.filter { $0.name == "tp-pulse-test" }
        #expect(living == [VoiceThread(name: "tp-pulse-test", lastTurn: Instant(nanoseconds: 42))])
        mayEnd.signal()
        let limit = Instant.now + .seconds(20)
        while PBVoice.threads.contains(where: { $0.name == "tp-pulse-test" }), Instant.now < limit {}
        #expect(!PBVoice.threads.contains { $0.name == "tp-pulse-test" })
    }
}
