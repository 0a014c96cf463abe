import Testing

@testable import Support
@testable import VoiceCore

@Suite struct ConsentFreshnessTests {
    private let start = Instant(nanoseconds: 1_000_000_000)

    /// Runs it without any answer for so long, and notes what became due when.
    private func due(_ consent: inout ConsentFreshness, for duration: Duration) -> [(after: Duration, due: String)] {
        var entropy = Entropy.seeded(1)
        var log: [(after: Duration, due: String)] = []
        while consent.deadline <= start + duration {
            let now = consent.deadline
            let due = consent.handleTimeout(entropy: &entropy, at: now)
            log.append((now - start, "\(due)"))
            if case .expired = due { break }
        }
        return log
    }

    @Test func withoutAnswersItAsksIsDisconnectedAndExpires() throws {
        var entropy = Entropy.seeded(2)
        var consent = ConsentFreshness(lastAnswer: start, asks: true, entropy: &entropy, at: start)
        let log = due(&consent, for: .seconds(60))
        let others = log.filter { $0.due != "check" && $0.due != "repetition" }.map { $0.due }
        #expect(others == ["disconnected", "expired"])
        let firstCheck = try #require(log.first { $0.due == "check" }).after
        let disconnected = log.first { $0.due == "disconnected" }?.after
        #expect(disconnected == max(.seconds(5), firstCheck + .milliseconds(1200)))
        #expect(log.last?.after == .seconds(30))
        let checks = log.filter { $0.due == "check" }.count
        #expect(checks == 6 || checks == 7)
    }

    @Test func aCheckIsRepeatedThreeTimesUntilItIsAnswered() throws {
        var entropy = Entropy.seeded(2)
        var consent = ConsentFreshness(lastAnswer: start, asks: true, entropy: &entropy, at: start)
        let log = due(&consent, for: .seconds(8)).filter { $0.due != "disconnected" }
        let first = try #require(log.first).after
        let later = log.map { $0.due == "expired" ? .zero : $0.after - first }
        #expect(log.prefix(4).map(\.due) == ["check", "repetition", "repetition", "repetition"])
        #expect(Array(later.prefix(4)) == [.zero, .milliseconds(300), .milliseconds(600), .milliseconds(900)])
        #expect(log.count == 4)

        var answered = ConsentFreshness(lastAnswer: start, asks: true, entropy: &entropy, at: start)
        _ = due(&answered, for: .milliseconds(4_800))
        _ = answered.answered(at: start + .milliseconds(4_801))
        #expect(answered.deadline >= start + .seconds(8))
    }

    @Test func aLiteAgentNeitherAsksNorIsDisconnectedButExpires() {
        var entropy = Entropy.seeded(2)
        var consent = ConsentFreshness(lastAnswer: start, asks: false, entropy: &entropy, at: start)
        #expect(due(&consent, for: .seconds(60)).map(\.due) == ["expired"])
    }

    @Test func anAnswerEndsTheDisconnectionOnce() {
        var entropy = Entropy.seeded(2)
        var consent = ConsentFreshness(lastAnswer: start, asks: true, entropy: &entropy, at: start)
        _ = due(&consent, for: .seconds(6))
        #expect(consent.isDisconnected)
        let first = consent.answered(at: start + .seconds(7))
        let second = consent.answered(at: start + .seconds(8))
        #expect(first)
        #expect(!second)
        #expect(consent.lastAnswer == start + .seconds(8))
    }

    @Test func anotherPairIsAskedAtOnceAndExpiresByItsOwnLastAnswer() {
        var entropy = Entropy.seeded(2)
        var consent = ConsentFreshness(lastAnswer: start, asks: true, entropy: &entropy, at: start)
        let now = start + .seconds(20)
        consent.move(lastAnswer: start + .seconds(1), at: now)
        #expect(consent.deadline == now)
        let log = due(&consent, for: .seconds(60))
        #expect(log.first?.due == "check")
        #expect(log.first { $0.due == "disconnected" }?.after == .seconds(25))
        #expect(log.last?.after == .seconds(31))
    }
}
