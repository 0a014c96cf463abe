import Testing

@testable import VoiceCore

@Suite struct DeviceLossTests {
    private static let lost = AudioDeviceError(.lost, "The speaker is gone.")
    private static let absent = AudioDeviceError(.absent, "There is no speaker.")

    private static func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: 0) + .milliseconds(milliseconds) }

    @Test func aDeviceIsAskedForAgainEachSecond() {
        var loss = DeviceLoss("The speaker")
        #expect(loss.isDue(at: Self.at(0)))
        _ = loss.lost(Self.lost, at: Self.at(500))
        #expect(!loss.isDue(at: Self.at(1_499)))
        #expect(loss.isDue(at: Self.at(1_500)))
    }

    @Test func eachReasonIsToldOnce() {
        var loss = DeviceLoss("The speaker")
        var told: [String] = []
        let errors = [Self.lost, Self.absent, Self.absent, Self.absent, Self.lost]
        for (second, error) in errors.enumerated() {
            if let diagnostic = loss.lost(error, at: Self.at(second * 1000)) { told.append("\(diagnostic)") }
        }
        #expect(told == ["The speaker is gone.", "There is no speaker.", "The speaker is gone."])
    }

    @Test func aDeviceThatWasAwayIsBack() {
        var loss = DeviceLoss("The speaker")
        #expect(loss.opened() == nil)
        _ = loss.lost(Self.lost, at: Self.at(0))
        #expect(loss.opened().map { "\($0)" } == "The speaker is back.")
        #expect(loss.opened() == nil)
        #expect(loss.lost(Self.lost, at: Self.at(9_000)) != nil)
    }
}
