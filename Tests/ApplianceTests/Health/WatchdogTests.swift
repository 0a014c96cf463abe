import Testing
import VoiceCore

@testable import Appliance

@Suite struct WatchdogTests {
    private func instant(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64(seconds * 1e9))
    }

    private func threads(_ turns: KeyValuePairs<String, Double>) -> [VoiceThread] {
        turns.map { VoiceThread(name: $0.key, lastTurn: instant($0.value)) }
    }

    @Test func whatTurnsIsFedFor() {
        var watchdog = Watchdog(period: .seconds(10))
        #expect(watchdog.check(threads([:]), at: instant(100)) == .feed)
        #expect(watchdog.check(threads(["tp-network": 100.6, "tp-capture": 102.49]), at: instant(102.5)) == .feed)
    }

    @Test func whatStandsStillForHalfThePeriodIsNamed() {
        var watchdog = Watchdog(period: .seconds(10))
        _ = watchdog.check([], at: instant(97.5))
        #expect(watchdog.check(threads(["tp-capture": 95, "tp-network": 99]), at: instant(100)) == .feed)
        #expect(
            watchdog.check(threads(["tp-capture": 95, "tp-network": 99]), at: instant(102.5))
                == .starve(stuck: ["tp-capture"]))
    }

    @Test func whatTurnsAgainIsFedForAgain() {
        var watchdog = Watchdog(period: .seconds(10))
        _ = watchdog.check([], at: instant(97.5))
        #expect(watchdog.check(threads(["tp-playback": 90]), at: instant(100)) == .starve(stuck: ["tp-playback"]))
        #expect(watchdog.check(threads(["tp-playback": 102]), at: instant(102.5)) == .feed)
    }

    @Test func aProcessThatStoodStillAsAWholeBlamesNobodyButAThreadThatStaysBehindIsFound() {
        var watchdog = Watchdog(period: .seconds(10))
        _ = watchdog.check([], at: instant(100))
        let behind = threads(["tp-network": 99])
        #expect(watchdog.check(behind, at: instant(108)) == .feed)
        #expect(watchdog.check(behind, at: instant(110.5)) == .starve(stuck: ["tp-network"]))
    }
}
