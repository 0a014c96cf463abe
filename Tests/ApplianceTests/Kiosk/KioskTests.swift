import Testing
import VoiceCore

@testable import Appliance

@Suite struct KioskTests {
    /// A kiosk with a clock of its own that is moved on by hand.
    private struct Bench {
        var kiosk: Kiosk
        var now = Instant(nanoseconds: 0)

        init(_ settings: Configuration.Talk = Configuration.Talk()) {
            kiosk = Kiosk(settings)
        }

        mutating func send(_ event: KioskEvent) -> [KioskEffect] {
            kiosk.handle(event, at: now)
        }

        mutating func news(_ news: VoiceNews) -> [KioskEffect] {
            send(.voice(news, call: kiosk.call))
        }

        /// Moves the clock on, waking the kiosk when it wants to be.
        mutating func wait(_ duration: Duration) -> [KioskEffect] {
            let end = now + duration
            var effects: [KioskEffect] = []
            while let deadline = kiosk.deadline, deadline <= end {
                now = max(now, deadline)
                effects += send(.timer)
            }
            now = end
            return effects
        }

        /// A voice that is connected, its button still held.
        static func talking() -> Bench {
            var bench = Bench()
            _ = bench.send(.pressed)
            _ = bench.news(.opened(.connecting))
            _ = bench.news(.state(.connected))
            return bench
        }
    }

    @Test func aPressOpensAVoiceAndTheLEDIsOpenOnceItIsConnected() {
        var bench = Bench()
        #expect(bench.send(.pressed) == [.connect(call: 1), .light(.connecting)])
        #expect(bench.news(.opened(.connecting)) == [.mute(false)])
        #expect(bench.news(.state(.connected)) == [.light(.open)])
    }

    @Test func theReleaseMutesAfterItsTail() {
        var bench = Bench.talking()
        #expect(bench.send(.released) == [])
        #expect(bench.wait(.milliseconds(299)) == [])
        #expect(bench.wait(.milliseconds(1)) == [.mute(true), .light(.muted)])
    }

    @Test func withoutATailTheReleaseMutesAtOnce() {
        var settings = Configuration.Talk()
        settings.releaseTail = .zero
        var bench = Bench(settings)
        _ = bench.send(.pressed)
        _ = bench.news(.opened(.connected))
        #expect(bench.send(.released) == [.mute(true), .light(.muted)])
    }

    @Test func aPressWithinTheTailKeepsTheGateOpen() {
        var bench = Bench.talking()
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(200))
        #expect(bench.send(.pressed) == [])
        #expect(bench.wait(.seconds(60)) == [])
    }

    @Test func theNextPressUsesTheSameVoice() {
        var bench = Bench.talking()
        _ = bench.send(.released)
        _ = bench.wait(.seconds(5))
        #expect(bench.send(.pressed) == [.mute(false), .light(.open)])
        #expect(bench.kiosk.call == 1)
    }

    @Test func aQuietVoiceIsClosedAtTheIdleEnd() {
        var bench = Bench.talking()
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(300))
        #expect(bench.wait(.milliseconds(29_999)) == [])
        #expect(bench.wait(.milliseconds(1)) == [.close(.idle)])
        #expect(bench.news(.state(.closed)) == [])
        #expect(bench.kiosk.state == .idle)
    }

    @Test func theIdleEndNeverCutsTheProvidersSpeech() {
        var bench = Bench.talking()
        _ = bench.send(.released)
        for _ in 0..<100 {
            #expect(bench.wait(.seconds(20)).filter { $0 != .mute(true) && $0 != .light(.muted) } == [])
            _ = bench.send(.heard)
        }
        #expect(bench.wait(.seconds(30)) == [.close(.idle)])
    }

    @Test func aHeldButtonNeverMeetsTheIdleEnd() {
        var bench = Bench.talking()
        #expect(bench.wait(.seconds(86_400)) == [])
    }

    @Test func pressesWhileConnectingNeverOpenASecondVoice() {
        var bench = Bench()
        _ = bench.send(.pressed)
        for _ in 0..<30 {
            #expect(bench.send(.released) == [])
            #expect(bench.send(.pressed) == [])
        }
        #expect(bench.kiosk.call == 1)
    }

    @Test func aReleaseWhileConnectingLetsItGoOnMuted() {
        var bench = Bench()
        _ = bench.send(.pressed)
        _ = bench.send(.released)
        _ = bench.wait(.seconds(1))
        #expect(bench.news(.opened(.connecting)) == [.mute(true)])
        _ = bench.wait(.seconds(2))
        #expect(bench.news(.state(.connected)) == [.light(.muted)])
        #expect(bench.wait(.seconds(29)) == [])
        #expect(bench.wait(.seconds(1)) == [.close(.idle)])
    }

    @Test func aRefusalIsShownForAWhileAndTheNextPressTriesAgain() {
        var bench = Bench()
        _ = bench.send(.pressed)
        #expect(bench.news(.refused) == [.light(.fault)])
        #expect(bench.send(.released) == [])
        #expect(bench.send(.pressed) == [.connect(call: 2), .light(.connecting)])
        #expect(bench.news(.refused) == [.light(.fault)])
        #expect(bench.wait(Kiosk.faultShown) == [.light(.muted)])
    }

    @Test func aConnectThatNeverReturnsIsGivenUp() {
        var bench = Bench()
        _ = bench.send(.pressed)
        #expect(bench.wait(Kiosk.connectLimit) == [.cancelConnect, .light(.fault)])
        _ = bench.news(.refused)
        #expect(bench.kiosk.pattern == .fault)
    }

    @Test func aVoiceThatNeverConnectsIsGivenUp() {
        var bench = Bench()
        _ = bench.send(.pressed)
        _ = bench.news(.opened(.connecting))
        #expect(bench.wait(Kiosk.connectLimit) == [.close(.neverConnected), .light(.fault)])
    }

    @Test func aLostConnectionIsAFaultAndItsRecoveryIsSeen() {
        var bench = Bench.talking()
        #expect(bench.news(.state(.disconnected)) == [.light(.connecting)])
        #expect(bench.news(.state(.connected)) == [.light(.open)])
        _ = bench.news(.state(.disconnected))
        #expect(bench.news(.state(.failed)) == [.close(.lost), .light(.fault)])
    }

    @Test func aProviderThatEndsTheVoiceLeavesTheKioskReady() {
        var bench = Bench.talking()
        #expect(bench.news(.state(.closed)) == [.close(.ended), .light(.muted)])
        #expect(bench.send(.released) == [])
        #expect(bench.send(.pressed) == [.connect(call: 2), .light(.connecting)])
    }

    @Test func aPressWhileClosingOpensTheNextVoiceOnceItIsClosed() {
        var bench = Bench.talking()
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(30_300))
        #expect(bench.send(.pressed) == [.light(.connecting)])
        #expect(bench.news(.state(.closed)) == [.connect(call: 2)])
        #expect(bench.kiosk.state == .connecting(.held, until: bench.now + Kiosk.connectLimit))
    }

    @Test func aVoiceThatDoesNotSayItIsClosedIsNotWaitedForLong() {
        var bench = Bench.talking()
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(30_300))
        _ = bench.send(.pressed)
        #expect(bench.wait(Kiosk.closeLimit) == [.connect(call: 2)])
    }

    @Test func doublePressesAndReleasesAreOne() {
        var bench = Bench.talking()
        #expect(bench.send(.pressed) == [])
        _ = bench.send(.released)
        _ = bench.wait(.milliseconds(200))
        #expect(bench.send(.released) == [])
        #expect(bench.wait(.milliseconds(100)) == [.mute(true), .light(.muted)])
    }

    @Test func quitClosesTheVoiceFirst() {
        var bench = Bench.talking()
        #expect(bench.send(.quit) == [.close(.quit), .light(.muted)])
        #expect(bench.send(.pressed) == [])
        #expect(bench.news(.state(.closed)) == [.finish])
    }

    @Test func aSecondQuitWaitsForNothing() {
        var bench = Bench.talking()
        _ = bench.send(.quit)
        #expect(bench.send(.quit) == [.finish])
    }

    /// The three promises that hold whatever happens in whatever order.
    @Test(arguments: 1...20)
    func whateverHappensThereIsOneVoiceATrueLEDAndAnEnd(seed: Int) {
        var random = SeededBytes(seed: UInt64(seed))
        var bench = Bench()
        var openVoices = 0
        var isMuted = true
        var pattern = LEDPattern.muted
        var isFinished = false
        func note(_ effects: [KioskEffect]) {
            for effect in effects {
                switch effect {
                case .connect:
                    openVoices += 1
                    isMuted = true
                case .mute(let muted): isMuted = muted
                case .cancelConnect, .close: openVoices -= 1
                case .light(let shown): pattern = shown
                case .finish: isFinished = true
                }
            }
        }
        for _ in 0..<3000 {
            switch random.below(12) {
            case 0, 1: note(bench.send(.pressed))
            case 2, 3: note(bench.send(.released))
            case 4: note(bench.send(.heard))
            case 5, 6:
                if case .connecting = bench.kiosk.state {
                    if random.below(4) == 0 {
                        note(bench.news(.refused))
                        openVoices -= 1
                    } else {
                        note(bench.news(.opened([.connecting, .connected, .failed, .closed][random.below(4)])))
                    }
                }
            case 7, 8:
                note(bench.news(.state(PBVoiceState.allCases[random.below(6)])))
            default: note(bench.wait(.milliseconds(random.below(3000))))
            }
            #expect((0...1).contains(openVoices))
            if pattern == .open { #expect(!isMuted && openVoices == 1) }
            if case .idle = bench.kiosk.state {
                #expect(openVoices == 0)
            } else {
                #expect(bench.kiosk.deadline != nil || !isMuted)
            }
            #expect(pattern == bench.kiosk.pattern)
        }
        note(bench.send(.quit))
        note(bench.wait(Kiosk.closeLimit))
        #expect(isFinished)
        #expect(openVoices == 0)
    }
}
