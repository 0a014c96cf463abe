import Hardware
import Testing
import VoiceCore

@testable import Appliance

/// On a machine whose cards, if it has any, are not called so.
@Suite struct ALSADeviceTests {
    private static func device(microphone: String?, speaker: String?) -> ALSADevice {
        ALSADevice(
            microphone: microphone.flatMap { CardName($0) }, speaker: speaker.flatMap { CardName($0) }, mixer: nil,
            report: { _ in })
    }

    @Test func aMissingCardIsAbsentAndTheSentenceNamesTheKey() {
        let device = Self.device(microphone: "NoSuchCard", speaker: "NoSuchCard,1")
        let error = thrown(AudioDeviceError.self) { try device.openCapture() }
        #expect(error?.reason == .absent)
        #expect(
            error?.description.hasPrefix(
                "The microphone ([sound] microphone) cannot be used: there is no sound card NoSuchCard (") == true)
        let other = thrown(AudioDeviceError.self) { try device.openPlayback() }
        #expect(other?.reason == .absent)
        #expect(other?.description.hasPrefix("The speaker ([sound] speaker) cannot be used: ") == true)
    }

    @Test func eachCardThatIsMissingIsAProblem() {
        #expect(Self.device(microphone: "NoSuchCard", speaker: "NoSuchCard").problems.count == 2)
        #expect(Self.device(microphone: nil, speaker: "NoSuchCard").problems.count == 1)
        #expect(Self.device(microphone: nil, speaker: nil).problems.isEmpty)
    }

    @Test func withoutAMixerAnySessionLeavesAllAsItIs() throws {
        let device = Self.device(microphone: "NoSuchCard", speaker: nil)
        try device.activate(.managed)
        try device.activate(.app)
        device.deactivate()
    }
}
