import Hardware
import Testing

@testable import Appliance

@Suite struct LEDPatternTests {
    /// Every 10 ms of the pattern's first twenty seconds: whether it is lit.
    private func light(_ pattern: LEDPattern) -> [Bool] {
        (0..<2000).map { pattern.blink.isLit(after: .milliseconds($0 * 10)) }
    }

    @Test func steadyDarkMeansHeardAndSteadyLightMeansNot() {
        #expect(!light(.open).contains(true))
        #expect(!light(.muted).contains(false))
    }

    @Test(arguments: LEDPattern.all)
    func longTimesSayWhetherTheMicrophoneIsHeard(pattern: LEDPattern) {
        let light = light(pattern)
        let contrary = light.split(separator: !pattern.isHeard).map(\.count)
        #expect((contrary.max() ?? 0) <= 15)
        #expect(light.filter { $0 != pattern.isHeard }.count > 1200)
    }

    @Test func aPressIsSeenAtOnce() {
        #expect(!light(.connecting)[0])
    }

    @Test func noTwoLookAlike() {
        #expect(Set(LEDPattern.all.map(light)).count == LEDPattern.all.count)
    }

    private static let faults = LEDPattern.all.filter { $0.fault != nil }

    @Test(arguments: faults)
    func aFaultsFlicksAreItsCode(pattern: LEDPattern) throws {
        // What lies between two flicks, from one pause to the next.
        let rests = light(pattern).split(separator: pattern.isHeard).map(\.count).drop { $0 < 200 }.dropFirst()
        let period = rests.prefix { $0 < 200 }
        let gap = try #require(period.firstIndex { $0 > 50 })
        let code = try #require(pattern.fault).code
        #expect(period.distance(from: period.startIndex, to: gap) + 1 == code.place)
        #expect(period.distance(from: gap, to: period.endIndex) == code.detail)
    }

    @Test func aFaultIsShownForLongEnoughToCountItTwice() {
        for fault in Fault.allCases {
            #expect(LEDPattern.fault(fault).blink.turns.reduce(.zero, +) * 2 <= Kiosk.faultShown)
        }
    }
}
