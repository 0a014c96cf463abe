import Testing

@testable import Appliance

@Suite struct HealthTests {
    @Test func aHealthyPostSaysWhatItDoes() {
        #expect(Health().status("Waiting for a press.") == "Waiting for a press.")
    }

    @Test func whatIsWrongIsToldInTheOrderOfTheParts() {
        var health = Health()
        #expect(health.see(.backend, "The backend does not answer.") == .fault("The backend does not answer."))
        #expect(health.see(.sound, "There is no card.") == .fault("There is no card."))
        #expect(!health.isAble)
        #expect(
            health.status("Waiting for a press.")
                == "Waiting for a press. Not able to serve: There is no card. The backend does not answer.")
    }

    @Test func aFaultIsToldOnceAndItsEndToo() {
        var health = Health()
        _ = health.see(.sound, "There is no card.")
        #expect(health.see(.sound, "There is no card.") == nil)
        #expect(health.see(.sound, "The card is busy.") == .fault("The card is busy."))
        #expect(health.see(.sound, nil) == .healed(.sound))
        #expect(health.see(.sound, nil) == nil)
        #expect(health.isAble)
    }
}
