import Testing
import VoiceCore

@testable import Appliance

@Suite struct SessionExpiryTests {
    private static let wall = 1_800_000_000.0
    private static let now = Instant(nanoseconds: 5_000_000_000)

    @Test(arguments: [30.0, 900, 3600, 7200])
    func aDateThatASessionCanHaveIsBelieved(seconds: Double) {
        let instant = SessionExpiry.instant(of: Self.wall + seconds, wall: Self.wall, at: Self.now)
        #expect(instant == Self.now + .seconds(Int(seconds)))
    }

    /// A post that wakes in 1970, a provider whose clock is off, and what is no number.
    @Test(arguments: [-1.0, 0, 29, 7201, 1_800_000_000, -1_800_000_000, .infinity, -.infinity, .nan])
    func whatIsAClocksMistakeIsNot(seconds: Double) {
        #expect(SessionExpiry.instant(of: Self.wall + seconds, wall: Self.wall, at: Self.now) == nil)
    }
}
