import Hardware
import Synchronization
import Testing
import VoiceCore

@testable import Appliance

@Suite @MainActor struct HealthWatchTests {
    private final class Site {
        var sound: String?
        var threads: [VoiceThread] = []
        var sent: [ServiceMessage] = []
    }

    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
    }

    private func watch(_ site: Site, period: Duration? = .seconds(8), lines: Lines = Lines()) -> HealthWatch {
        HealthWatch(
            looks: [(.sound, { site.sound })], watchdogPeriod: period, threads: { site.threads },
            send: { site.sent.append($0) },
            log: Log(.info) { _, line, _ in lines.all.withLock { $0.append(line) } })
    }

    private func instant(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func aFaultOfTheSiteDelaysNoReadyAndStarvesNoWatchdog() {
        let site = Site()
        site.sound = "There is no sound card."
        let watch = watch(site)
        watch.show("Waiting for a press.")
        watch.ready(at: instant(100))
        #expect(
            site.sent == [
                .status("Waiting for a press."), .ready, .alive,
                .status("Waiting for a press. Not able to serve: There is no sound card."),
            ])
    }

    @Test func whatChangesIsToldOnce() {
        let (site, lines) = (Site(), Lines())
        let watch = watch(site, period: nil, lines: lines)
        watch.show("Waiting for a press.")
        for (second, fault) in [(1, nil), (2, "The card is gone."), (3, "The card is gone."), (4, nil)]
            as [(Int64, String?)]
        {
            site.sound = fault
            watch.turn(at: instant(second))
        }
        #expect(
            site.sent == [
                .status("Waiting for a press."), .status("Waiting for a press. Not able to serve: The card is gone."),
                .status("Waiting for a press."),
            ])
        #expect(lines.all.withLock { $0 } == ["The card is gone.", "The sound card is there again."])
    }

    @Test func aLookTellsWhatChangedAndFeedsNothing() {
        let site = Site()
        let watch = watch(site)
        watch.show("In a voice.")
        site.sound = "The card is gone."
        watch.look()
        #expect(site.sent == [.status("In a voice."), .status("In a voice. Not able to serve: The card is gone.")])
    }

    @Test func aStuckThreadIsNamedBeforeSystemdActsAndNotFedFor() {
        let (site, lines) = (Site(), Lines())
        let watch = watch(site, lines: lines)
        watch.show("In a voice.")
        site.threads = [VoiceThread(name: "tp-capture", lastTurn: instant(96))]
        watch.turn(at: instant(100))
        watch.turn(at: instant(102))
        watch.turn(at: instant(104))
        site.threads = [VoiceThread(name: "tp-capture", lastTurn: instant(105))]
        watch.turn(at: instant(106))
        #expect(
            site.sent == [
                .status("In a voice."), .alive, .status("Stuck: tp-capture."), .alive, .status("In a voice."),
            ])
        #expect(
            lines.all.withLock { $0 } == [
                "Stuck: tp-capture. systemd is not told that all is well and will start anew.",
                "All threads turn again.",
            ])
    }

    @Test func theLoopIsAskedToTurnFourTimesInTheWatchdogsPeriodAndEvery3SecondsAtLeast() {
        #expect(watch(Site(), period: .seconds(8)).period == .seconds(2))
        #expect(watch(Site(), period: .seconds(60)).period == .seconds(3))
        #expect(watch(Site(), period: nil).period == .seconds(3))
    }
}
