import Testing
import VoiceCore

@testable import Appliance

@Suite struct KioskRenewalTests {
    /// A conversation whose session ends in five minutes.
    private func expiring(_ mode: TalkMode) -> Bench {
        var bench = Bench.talking(mode) {
            $0.idleEnd = .seconds(600)
            $0.transmitLimit = .seconds(3600)
        }
        _ = bench.news(.expires(bench.now + .seconds(300)))
        return bench
    }

    @Test func anExpiringVoiceIsRenewedAtAPauseAndTheVisitorHearsIt() {
        var bench = expiring(.hold)
        #expect(bench.wait(.seconds(239)) == [])
        _ = bench.takeEarcons()
        // They talk on into the last minute.
        for _ in 0..<40 {
            #expect(bench.send(.spoken) == [])
            #expect(bench.wait(.milliseconds(250)) == [])
        }
        #expect(bench.wait(Kiosk.pause) == [.close(.expired), .light(.connecting)])
        #expect(bench.takeEarcons() == [.connecting])
        #expect(bench.news(.state(.closed)) == [.connect(call: 2, muted: false)])
        // The button is still held.
        _ = bench.news(.microphone(true))
        _ = bench.news(.opened(.connected))
        #expect(bench.kiosk.pattern == .open)
        _ = bench.send(.released)
        #expect(bench.wait(.seconds(1)) == [.mute(true), .light(.muted)])
    }

    @Test func whoNeverPausesIsRenewedBeforeTheEnd() {
        var bench = expiring(.handsFree)
        var effects: [KioskEffect] = []
        var seconds = 0
        while effects.isEmpty, seconds < 400 {
            effects += bench.send(.heard) + bench.wait(.seconds(1))
            seconds += 1
        }
        #expect(effects == [.close(.expired), .light(.connecting)])
        #expect(seconds == 295)
    }

    @Test func aSessionThatEndsWithoutAWordBeforeIsRenewedOnce() {
        var bench = Bench.talking(.toggle)
        #expect(bench.news(.expired) == [.close(.expired), .light(.connecting)])
        #expect(bench.news(.expired) == [])
        #expect(bench.news(.state(.closed)) == [.connect(call: 2, muted: false)])
    }

    @Test func theNextVoiceHasAnEndOfItsOwn() {
        var bench = expiring(.handsFree)
        _ = bench.news(.expired)
        _ = bench.news(.state(.closed))
        _ = bench.news(.opened(.connected))
        #expect(bench.kiosk.expiry == nil)
        #expect(bench.wait(.seconds(400)) == [])
    }

    @Test func aConversationWhoseConnectionIsLostGoesOnInANewVoice() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.seconds(1))
        _ = bench.send(.heard)
        _ = bench.news(.state(.disconnected))
        #expect(bench.news(.state(.failed)) == [.close(.lost)])
        #expect(bench.kiosk.pattern == .connecting)
        #expect(bench.news(.state(.closed)) == [.connect(call: 2, muted: true)])
    }

    /// The cable is pulled out in the provider's sentence, the wireless takes over 20 s later, and the provider does not follow.
    @Test func aConversationThatALostNetworkInterruptsGoesOnHoweverLongTheNextNetworkTakes() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.seconds(1))
        _ = bench.send(.heard)
        _ = bench.takeEarcons()
        #expect(bench.news(.state(.disconnected)) == [.light(.connecting)])
        #expect(bench.takeEarcons() == [.connecting])
        #expect(bench.wait(.seconds(25)) == [])
        #expect(bench.news(.state(.failed)) == [.close(.lost)])
        #expect(bench.news(.state(.closed)) == [.connect(call: 2, muted: true)])
        _ = bench.news(.microphone(true))
        _ = bench.news(.opened(.connecting))
        #expect(bench.news(.state(.connected)).contains(.light(.muted)))
        #expect(bench.takeEarcons() == [.shut])
    }

    @Test func aVoiceThatNobodyWasInIsNotMadeAgain() {
        var bench = Bench.talking(.hold)
        _ = bench.send(.released)
        _ = bench.wait(.seconds(20))
        _ = bench.news(.state(.disconnected))
        #expect(bench.news(.state(.failed)).contains(.light(.fault(.unreachable))))
        #expect(bench.kiosk.call == 1)
    }

    @Test func aConnectionThatRecoversForgetsThatItWasInUse() {
        var bench = Bench.talking(.hold)
        _ = bench.news(.state(.disconnected))
        _ = bench.news(.state(.connected))
        _ = bench.send(.released)
        _ = bench.wait(.seconds(20))
        #expect(bench.news(.state(.failed)).contains(.light(.fault(.unreachable))))
    }

    @Test func aNewVoiceThatDoesNotComeUpIsAFaultAndNotTriedAgain() {
        var bench = Bench.talking(.toggle)
        _ = bench.news(.state(.failed))
        _ = bench.news(.state(.closed))
        _ = bench.news(.opened(.connecting))
        #expect(bench.news(.state(.failed)).contains(.light(.fault(.unreachable))))
        #expect(bench.kiosk.call == 2)
    }
}
