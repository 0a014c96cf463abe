import Testing
import VoiceCore

@testable import Appliance

@Suite struct KioskModesTests {
    @Test(arguments: [TalkMode.toggle, .handsFree])
    func aPressOpensAndTheNextOneShutsAndEnds(mode: TalkMode) {
        var bench = Bench.talking(mode)
        #expect(bench.kiosk.pattern == .open)
        #expect(bench.send(.released) == [])
        #expect(bench.wait(.seconds(10)) == [])
        #expect(bench.send(.pressed) == [.close(.pressed), .light(.muted)])
        #expect(bench.send(.released) == [])
        #expect(bench.news(.state(.closed)) == [])
        #expect(bench.kiosk.state == .idle)
    }

    @Test func aTapInAutoActsAsToggle() {
        var bench = Bench(.auto)
        #expect(bench.tap() == [.connect(call: 1, muted: false), .light(.connecting)])
        #expect(bench.news(.microphone(true)) == [.light(.open)])
        _ = bench.news(.opened(.connected))
        #expect(bench.wait(.seconds(20)) == [])
        #expect(bench.tap() == [.close(.pressed), .light(.muted)])
    }

    @Test(arguments: [(399, true), (400, false)])
    func whatIsShorterThan400MillisecondsIsATap(milliseconds: Int, isTap: Bool) {
        var bench = Bench.talking(.auto)
        _ = bench.wait(.milliseconds(milliseconds))
        _ = bench.send(.released)
        #expect(bench.wait(.seconds(1)) == (isTap ? [] : [.mute(true), .light(.muted)]))
    }

    @Test func aTapInHoldIsAShortHold() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        #expect(bench.wait(.seconds(1)) == [.mute(true), .light(.muted)])
    }

    @Test func anOpenMicrophoneWithoutAHandMeetsTheIdleEnd() {
        for mode in [TalkMode.auto, .toggle, .handsFree] {
            var bench = Bench.talking(mode)
            _ = bench.send(.released)
            #expect(bench.wait(.milliseconds(29_999)) == [])
            #expect(bench.wait(.milliseconds(1)) == [.close(.idle), .light(.muted)])
        }
    }

    @Test(arguments: [KioskEvent.heard, .spoken])
    func theIdleEndCutsSpeechOfNeitherSide(speech: KioskEvent) {
        var bench = Bench.talking(.handsFree)
        for _ in 0..<20 {
            #expect(bench.wait(.seconds(29)) == [])
            _ = bench.send(speech)
        }
        #expect(bench.wait(.seconds(30)) == [.close(.idle), .light(.muted)])
    }

    @Test func whatTheMicrophoneHearsWhileShutIsNoReasonToStay() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(300))
        _ = bench.wait(.seconds(20))
        _ = bench.send(.spoken)
        #expect(bench.wait(.seconds(10)) == [.close(.idle)])
    }

    @Test(arguments: [TalkMode.auto, .toggle])
    func theTransmitLimitShutsAMicrophoneThatNobodyAnswers(mode: TalkMode) {
        var bench = Bench.talking(mode)
        _ = bench.send(.released)
        _ = bench.takeEarcons()
        for _ in 0..<11 {
            #expect(bench.wait(.seconds(10)) == [])
            _ = bench.send(.spoken)
        }
        #expect(bench.wait(.milliseconds(4_999)) == [])
        #expect(bench.takeEarcons() == [])
        #expect(bench.wait(.milliseconds(1)) == [])
        #expect(bench.takeEarcons() == [.limit])
        #expect(bench.wait(.seconds(5)) == [.mute(true), .light(.muted)])
        #expect(bench.takeEarcons() == [.shut])
        #expect(bench.tap() == [.silence, .mute(false), .light(.open)])
    }

    @Test func anAnswerBeginsTheTransmitLimitAnewAndHandsFreeHasNone() {
        for (mode, speech) in [(TalkMode.toggle, KioskEvent.heard), (.handsFree, .spoken)] {
            var bench = Bench.talking(mode)
            for _ in 0..<30 {
                #expect(bench.wait(.seconds(10)) == [])
                _ = bench.send(speech)
            }
            #expect(!bench.takeEarcons().contains(.limit))
        }
    }

    @Test func aHeldButtonIsWarnedFiveSecondsBeforeTheLimit() {
        var bench = Bench.talking(.auto) { $0.transmitLimit = .seconds(10) }
        _ = bench.takeEarcons()
        _ = bench.wait(.milliseconds(4_999))
        #expect(bench.takeEarcons() == [])
        _ = bench.wait(.milliseconds(1))
        #expect(bench.takeEarcons() == [.limit])
        #expect(bench.send(.released) == [])
    }

    @Test func aSecondPressWhileConnectingGivesUpWhatATapBegan() {
        var bench = Bench(.auto)
        _ = bench.tap()
        #expect(bench.tap() == [.cancelConnect, .light(.muted)])
        #expect(bench.news(.refused(.providerError)) == [])
        #expect(bench.kiosk.state == .idle)
    }

    @Test func whatIsSaidWhileConnectingIsKeptFromTheTapOn() {
        var bench = Bench(.auto)
        _ = bench.tap()
        #expect(bench.news(.microphone(true)) == [.light(.open)])
        #expect(bench.news(.opened(.connecting)) == [])
        #expect(bench.kiosk.pattern == .open)
    }

    @Test func tapsWhileClosingCountUpToTheLast() {
        var bench = Bench.talking(.auto)
        _ = bench.send(.released)
        #expect(bench.tap() == [.close(.pressed), .light(.muted)])
        #expect(bench.tap() == [.light(.connecting)])
        #expect(bench.tap() == [.light(.muted)])
        #expect(bench.tap() == [.light(.connecting)])
        #expect(bench.news(.state(.closed)) == [.connect(call: 2, muted: false)])
    }

    // MARK: What is seen and heard

    @Test func aLostMicrophoneIsAFaultUntilItIsBack() {
        var bench = Bench.talking(.hold)
        #expect(bench.news(.microphone(false)) == [.light(.fault(.microphoneLost))])
        #expect(bench.news(.microphone(true)) == [.light(.open)])
    }

    @Test func aLostSpeakerIsNamedWithoutALieAboutTheMicrophone() {
        var bench = Bench.talking(.hold)
        let heard = LEDPattern(isHeard: true, notice: .fault(.speakerLost))
        #expect(bench.news(.speaker(false)) == [.light(heard)])
        _ = bench.send(.released)
        #expect(bench.wait(.seconds(1)) == [.mute(true), .light(.fault(.speakerLost))])
        #expect(bench.news(.speaker(true)) == [.light(.muted)])
        #expect(bench.takeEarcons() == [.connecting, .open, .fault(.speakerLost), .shut, .shut])
    }

    @Test func theMicrophoneOfTheVoiceBeforeSaysNothingAboutTheNext() {
        var bench = Bench.talking(.toggle)
        _ = bench.send(.pressed)
        _ = bench.news(.state(.closed))
        _ = bench.send(.pressed)
        #expect(bench.send(.voice(.microphone(true), call: 1)) == [])
        #expect(bench.kiosk.pattern == .connecting)
        #expect(bench.send(.voice(.microphone(true), call: 2)) == [.light(.open)])
    }

    @Test func everyChangeOfTheLEDIsHeard() {
        var bench = Bench(.hold)
        bench.connect()
        #expect(bench.takeEarcons() == [.connecting, .open])
        _ = bench.send(.released)
        _ = bench.wait(.seconds(1))
        #expect(bench.takeEarcons() == [.shut])
        _ = bench.news(.state(.disconnected))
        _ = bench.news(.state(.connected))
        #expect(bench.takeEarcons() == [.connecting, .shut])
        _ = bench.news(.state(.failed))
        _ = bench.news(.state(.closed))
        #expect(bench.takeEarcons() == [.fault(.unreachable)])
        _ = bench.wait(Kiosk.faultShown)
        #expect(bench.takeEarcons() == [.ended])
    }

    @Test func theEndOfAMutedVoiceIsHeardThoughTheLEDStays() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.seconds(1))
        _ = bench.takeEarcons()
        #expect(bench.wait(.seconds(30)) == [.close(.idle)])
        #expect(bench.takeEarcons() == [.ended])
        _ = bench.news(.state(.closed))
        #expect(bench.takeEarcons() == [])
    }

    @Test func theEndOfTheProgramIsNotHeard() {
        var bench = Bench.talking(.hold)
        _ = bench.takeEarcons()
        _ = bench.send(.quit)
        _ = bench.news(.state(.closed))
        #expect(bench.takeEarcons() == [])
    }

    @Test func aPressSilencesTheProviderHere() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        #expect(bench.send(.pressed) == [.silence])
        #expect(bench.send(.pressed) == [])
        _ = bench.send(.released)
        _ = bench.wait(.seconds(1))
        #expect(bench.send(.pressed).first == .silence)
    }
}
