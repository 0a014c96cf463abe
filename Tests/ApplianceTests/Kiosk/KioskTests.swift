import Testing
import VoiceCore

@testable import Appliance

@Suite struct KioskTests {
    @Test func aPressOpensAVoiceAndTheLEDIsOpenOnceTheMicrophoneDelivers() {
        var bench = Bench(.hold)
        #expect(bench.send(.pressed) == [.connect(call: 1, muted: false), .light(.connecting)])
        #expect(bench.news(.microphone(true)) == [.light(.open)])
        #expect(bench.news(.opened(.connecting)) == [])
        #expect(bench.news(.state(.connected)) == [])
    }

    @Test func theReleaseMutesAfterItsTail() {
        var bench = Bench.talking(.hold)
        #expect(bench.send(.released) == [])
        #expect(bench.wait(.milliseconds(299)) == [])
        #expect(bench.wait(.milliseconds(1)) == [.mute(true), .light(.muted)])
    }

    @Test func withoutATailTheReleaseMutesAtOnce() {
        var bench = Bench(.hold) { $0.releaseTail = .zero }
        bench.connect()
        #expect(bench.send(.released) == [.mute(true), .light(.muted)])
    }

    @Test func aPressWithinTheTailKeepsTheGateOpen() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(200))
        #expect(bench.send(.pressed) == [.silence])
        #expect(bench.wait(.seconds(60)) == [])
    }

    @Test func theNextPressUsesTheSameVoice() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.seconds(5))
        #expect(bench.send(.pressed) == [.silence, .mute(false), .light(.open)])
        #expect(bench.kiosk.call == 1)
    }

    @Test func aQuietVoiceIsClosedAtTheIdleEnd() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(300))
        #expect(bench.wait(.milliseconds(29_999)) == [])
        #expect(bench.wait(.milliseconds(1)) == [.close(.idle)])
        #expect(bench.news(.state(.closed)) == [])
        #expect(bench.kiosk.state == .idle)
    }

    @Test func theIdleEndNeverCutsTheProvidersSpeech() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        for _ in 0..<100 {
            #expect(bench.wait(.seconds(20)).filter { $0 != .mute(true) && $0 != .light(.muted) } == [])
            _ = bench.send(.heard)
        }
        #expect(bench.wait(.seconds(30)) == [.close(.idle)])
    }

    @Test func aHeldButtonMeetsTheTransmitLimitAndNotTheIdleEnd() {
        var bench = Bench.talking(.hold) { $0.idleEnd = .seconds(10) }
        #expect(bench.wait(.milliseconds(119_999)) == [])
        #expect(bench.wait(.milliseconds(1)) == [.mute(true), .light(.muted)])
        #expect(bench.wait(.milliseconds(9_999)) == [])
        #expect(bench.wait(.milliseconds(1)) == [.close(.idle)])
        #expect(bench.send(.released) == [])
    }

    @Test func pressesWhileConnectingNeverOpenASecondVoice() {
        var bench = Bench(.hold)
        _ = bench.send(.pressed)
        for _ in 0..<30 {
            #expect(bench.send(.released) == [])
            #expect(bench.send(.pressed) == [])
        }
        #expect(bench.kiosk.call == 1)
    }

    @Test func aReleaseWhileConnectingLetsItGoOnMuted() {
        var bench = Bench(.hold)
        _ = bench.send(.pressed)
        _ = bench.news(.microphone(true))
        _ = bench.send(.released)
        #expect(bench.wait(.seconds(1)) == [.mute(true), .light(.connecting)])
        #expect(bench.news(.opened(.connecting)) == [])
        _ = bench.wait(.seconds(2))
        #expect(bench.news(.state(.connected)) == [.light(.muted)])
        #expect(bench.wait(.seconds(29)) == [])
        #expect(bench.wait(.seconds(1)) == [.close(.idle)])
    }

    @Test func aRefusalIsShownForAWhileAndTheNextPressTriesAgain() {
        var bench = Bench(.hold)
        _ = bench.send(.pressed)
        #expect(bench.news(.refused(.unreachable)) == [.light(.fault(.unreachable))])
        #expect(bench.send(.released) == [])
        #expect(bench.send(.pressed) == [.connect(call: 2, muted: false), .light(.connecting)])
        #expect(bench.news(.refused(.unreachable)) == [.light(.fault(.unreachable))])
        #expect(bench.wait(Kiosk.faultShown) == [.light(.muted)])
    }

    @Test func aConnectThatNeverReturnsIsGivenUp() {
        var bench = Bench(.hold)
        _ = bench.send(.pressed)
        #expect(bench.wait(Kiosk.connectLimit) == [.cancelConnect, .light(.fault(.unreachable))])
        _ = bench.news(.refused(.refused))
        #expect(bench.kiosk.pattern == .fault(.unreachable))
    }

    @Test func aVoiceThatNeverConnectsIsGivenUp() {
        var bench = Bench(.hold)
        _ = bench.send(.pressed)
        _ = bench.news(.opened(.connecting))
        #expect(bench.wait(Kiosk.pathLimit) == [.close(.neverConnected), .light(.fault(.unreachable))])
    }

    @Test func aLostConnectionIsAFaultAndItsRecoveryIsSeen() {
        var bench = Bench.talking(.hold)
        #expect(bench.news(.state(.disconnected)) == [.light(LEDPattern(isHeard: true, notice: .connecting))])
        #expect(bench.news(.state(.connected)) == [.light(.open)])
        _ = bench.send(.released)
        _ = bench.wait(.seconds(11))
        _ = bench.news(.state(.disconnected))
        #expect(bench.news(.state(.failed)) == [.close(.lost), .light(.fault(.unreachable))])
    }

    @Test func aProviderThatEndsTheVoiceLeavesTheKioskReady() {
        var bench = Bench.talking(.hold)
        #expect(bench.news(.state(.closed)) == [.close(.ended), .light(.muted)])
        #expect(bench.send(.released) == [])
        #expect(bench.send(.pressed) == [.connect(call: 2, muted: false), .light(.connecting)])
    }

    @Test func aPressWhileClosingOpensTheNextVoiceOnceItIsClosed() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(30_300))
        #expect(bench.send(.pressed) == [.light(.connecting)])
        #expect(bench.news(.state(.closed)) == [.connect(call: 2, muted: false)])
        #expect(
            bench.kiosk.state
                == .connecting(.held(Kiosk.OpenTime(since: bench.now)), until: bench.now + Kiosk.connectLimit))
    }

    @Test func aVoiceThatDoesNotSayItIsClosedIsNotWaitedForLong() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(30_300))
        _ = bench.send(.pressed)
        #expect(bench.wait(Kiosk.closeLimit) == [.connect(call: 2, muted: false)])
    }

    @Test func doublePressesAndReleasesAreOne() {
        var bench = Bench.talking(.hold)
        #expect(bench.send(.pressed) == [])
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(200))
        #expect(bench.send(.released) == [])
        #expect(bench.wait(.milliseconds(100)) == [.mute(true), .light(.muted)])
    }

    @Test func quitClosesTheVoiceFirst() {
        var bench = Bench.talking(.hold)
        #expect(bench.send(.quit) == [.close(.quit), .light(.muted)])
        #expect(bench.send(.pressed) == [])
        #expect(bench.news(.state(.closed)) == [.finish])
    }

    @Test func aSecondQuitWaitsForNothing() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.quit)
        #expect(bench.send(.quit) == [.finish])
    }

    /// The promises that hold whatever happens in whatever order.
    @Test(arguments: TalkMode.allCases, 1...5)
    func whateverHappensThereIsOneVoiceATrueLEDAndAnEnd(mode: TalkMode, seed: Int) {
        var random = SeededBytes(seed: UInt64(seed))
        var bench = Bench(mode)
        var openVoices = 0
        var isMuted = true
        var delivers = false
        var pattern = LEDPattern.muted
        var isFinished = false
        func note(_ effects: [KioskEffect]) {
            for effect in effects {
                switch effect {
                case .connect(_, let muted):
                    openVoices += 1
                    isMuted = muted
                    delivers = false
                case .mute(let muted): isMuted = muted
                case .cancelConnect, .close: openVoices -= 1
                case .light(let shown): pattern = shown
                case .finish: isFinished = true
                case .silence, .sound: break
                }
            }
        }
        for _ in 0..<3000 {
            switch random.below(14) {
            case 0, 1: note(bench.send(.pressed))
            case 2, 3: note(bench.send(.released))
            case 4: note(bench.send([.heard, .spoken][random.below(2)]))
            case 5, 6:
                if case .connecting = bench.kiosk.state {
                    if random.below(4) == 0 {
                        note(bench.news(.refused(.noNetwork)))
                        openVoices -= 1
                    } else {
                        note(bench.news(.opened([.connecting, .connected, .failed, .closed][random.below(4)])))
                    }
                }
            case 7, 8:
                note(bench.news(.state(PBVoiceState.allCases[random.below(6)])))
            case 9, 10:
                delivers = random.below(3) > 0
                note(bench.news(.microphone(delivers)))
            default: note(bench.wait(.milliseconds(random.below(3000))))
            }
            #expect((0...1).contains(openVoices))
            if pattern.isHeard { #expect(!isMuted && delivers && openVoices == 1) }
            if case .idle = bench.kiosk.state {
                #expect(openVoices == 0)
            } else {
                #expect(bench.kiosk.deadline != nil, "a state that nothing but a visitor ends")
            }
            #expect(pattern == bench.kiosk.pattern)
        }
        note(bench.send(.quit))
        note(bench.wait(Kiosk.closeLimit))
        #expect(isFinished)
        #expect(openVoices == 0)
    }
}
