import Testing

@testable import VoiceCore

@Suite struct NetworkSinkTests {
    @Test(arguments: [
        (EngineEvent.udpBlocked("Nothing came back."), PBVoiceError.Code.udpBlocked),
        (.failed("Nobody is there."), .unreachable),
    ])
    func aFailureIsToldByItsNameBeforeTheState(event: EngineEvent, code: PBVoiceError.Code) throws {
        let runtime = try VoiceRuntime(side: .offering, configuration: VoiceConfiguration()) { _ in }
        defer { runtime.close() }
        var sink = NetworkSink(runtime, poll: -1)
        sink.report(event)
        var told: [String] = []
        for event in runtime.events.drain() {
            switch event {
            case .error(let error): told.append(error.code)
            case .state(let state): told.append("\(state)")
            case .event, .channelOpened, .channelClosed, .message, .messageRefused: told.append("something else")
            }
        }
        #expect(told == [code.rawValue, "failed"])
    }
}
