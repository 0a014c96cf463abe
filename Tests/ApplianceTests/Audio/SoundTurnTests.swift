import Testing

@testable import Appliance

@Suite struct SoundTurnTests {
    private func turn(isVoiceExpected: Bool = false, _ steps: (inout SoundTurn) -> Void) -> SoundTurn {
        var turn = SoundTurn()
        turn.isVoiceExpected = isVoiceExpected
        steps(&turn)
        return turn
    }

    @Test func tonesBeginUntilTheVoiceAsksForItsSpeaker() {
        var turn = SoundTurn()
        turn.isVoiceExpected = true
        turn.takeMicrophone()
        _ = turn.takeSession()
        var early = turn
        let isBegun = early.beginTones()
        #expect(isBegun)
        let isBegunTwice = early.beginTones()
        #expect(!isBegunTwice)
        let isFree = turn.takeSpeaker()
        #expect(isFree)
        let late = turn.beginTones()
        #expect(!late)
    }

    @Test func theSpeakerStaysOpenForAVoiceThatIsExpectedAndElseEnds() {
        var turn = turn(isVoiceExpected: true) { _ = $0.beginTones() }
        #expect(turn.next(isQuiet: true) == .play)
        turn.isVoiceExpected = false
        #expect(turn.next(isQuiet: false) == .play)
        #expect(turn.next(isQuiet: true) == .end)
        turn.isEnding = true
        #expect(turn.next(isQuiet: false) == .end)
    }

    @Test func theSpeakerIsHandedOverToTheVoiceThatWaitsForIt() {
        var turn = turn(isVoiceExpected: true) {
            _ = $0.beginTones()
            $0.takeMicrophone()
            _ = $0.takeSession()
        }
        let isFree = turn.takeSpeaker()
        #expect(!isFree)
        #expect(turn.next(isQuiet: false) == .handOver)
        let isTaken = turn.handOver()
        #expect(isTaken)
        let isFreeNow = turn.takeSpeaker()
        #expect(isFreeNow)
        let isVoicesToPutBack = turn.endVoice()
        #expect(isVoicesToPutBack)
    }

    @Test func aSpeakerThatTheVoiceNoLongerWaitsForIsPlayedOn() {
        var turn = turn {
            _ = $0.beginTones()
            _ = $0.takeSession()
            _ = $0.takeSpeaker()
        }
        let isVoicesToPutBack = turn.endVoice()
        #expect(!isVoicesToPutBack)
        let isTaken = turn.handOver()
        #expect(!isTaken)
        let isTonesToPutBack = turn.endTones()
        #expect(isTonesToPutBack)
        turn.tonesLeft()
        #expect(turn.isFree)
    }

    @Test func whoeverLeavesLastPutsTheDeviceBack() {
        var turn = turn {
            _ = $0.beginTones()
            _ = $0.takeSession()
        }
        let isTonesToPutBack = turn.endTones()
        #expect(!isTonesToPutBack)
        let isVoicesToPutBack = turn.endVoice()
        #expect(isVoicesToPutBack)
        let begin = turn.beginTones()
        #expect(!begin)
        turn.voiceLeft()
        #expect(turn.isFree)
    }

    @Test func aVoiceWaitsWhileTonesPutTheDeviceBack() {
        var turn = turn {
            _ = $0.beginTones()
            $0.takeMicrophone()
            _ = $0.endTones()
        }
        let early = turn.takeSession()
        #expect(!early)
        turn.tonesLeft()
        let late = turn.takeSession()
        #expect(late)
    }

    @Test func atTheProgramsEndNoToneBegins() {
        var turn = SoundTurn()
        turn.isEnding = true
        let begins = turn.beginTones()
        #expect(!begins)
    }
}
