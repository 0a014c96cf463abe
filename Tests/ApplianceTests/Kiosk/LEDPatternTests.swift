import Hardware
import Testing

@testable import Appliance
@testable import VoiceCore

@Suite struct LEDPatternTests {
    /// Every 10 ms of the pattern's first ten seconds: whether it is lit.
    private func light(_ pattern: LEDPattern) -> [Bool] {
        (0..<1000).map { pattern.blink.isLit(after: .milliseconds($0 * 10)) }
    }

    @Test func steadyDarkMeansHeardAndSteadyLightMeansNot() {
        #expect(!light(.open).contains(true))
        #expect(!light(.muted).contains(false))
    }

    private static let flickering: [LEDPattern] = [.connecting] + Fault.allCases.map(LEDPattern.fault)

    @Test(arguments: flickering)
    func whatFlickersIsNeverDarkForLong(pattern: LEDPattern) {
        let light = light(pattern)
        let darkRuns = light.split(separator: true).map(\.count)
        #expect((darkRuns.max() ?? 0) <= 15)
        #expect(light.filter { $0 }.count > 600)
    }

    @Test func aPressIsSeenAtOnce() {
        #expect(!light(.connecting)[0])
    }

    @Test func eachFaultHasAsManyFlicksBetweenPausesAsItsTable() {
        for fault in Fault.allCases {
            let turns = LEDPattern.fault(fault).blink.turns
            #expect(turns.count == 2 * fault.flickCount)
            #expect(turns[0] >= .seconds(1))
        }
        #expect(Set(Fault.allCases.map(\.flickCount)) == Set(2...8))
    }

    @Test(arguments: [
        (PBVoiceError.Code.microphoneDenied, Fault.microphone), (.audioSession, .speaker), (.refused, .refused),
        (.invalidAnswer, .provider), (.noNetwork, .network), (.unreachable, .provider), (.providerError, .provider),
        (.invalidConfiguration, .setup),
    ])
    func eachErrorOfAVoiceHasItsFault(code: PBVoiceError.Code, fault: Fault) {
        #expect(Fault(PBVoiceError(code, "")) == fault)
    }

    @Test(arguments: [
        (BackendError.Kind.invalidConfiguration, Fault.setup), (.credential, .setup), (.dns, .backend),
        (.unreachable, .backend), (.tls, .backend), (.timeout, .backend), (.noAnswer, .backend), (.refused, .refused),
        (.invalidAnswer, .provider),
    ])
    func eachErrorOfTheBackendHasItsFault(kind: BackendError.Kind, fault: Fault) {
        #expect(Fault(PBVoiceError(.refused, "", underlying: BackendError(kind, ""))) == fault)
    }

    @Test func whatWasGivenUpIsNoFault() {
        #expect(Fault(PBVoiceError(.cancelled, "")) == nil)
    }
}
