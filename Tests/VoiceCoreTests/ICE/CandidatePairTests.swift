import Testing

@testable import Support
@testable import VoiceCore

@Suite struct CandidatePairTests {
    private let start = Instant(nanoseconds: 0)

    private func pair() -> CandidatePair {
        CandidatePair(
            id: CandidatePairID(rawValue: 1),
            local: ICELocalBase(
                path: PathID(rawValue: 1), address: SocketAddress("192.0.2.1:1"), localPreference: 65535, foundation: 1),
            remote: SocketAddress("198.51.100.1:1"), remotePriority: 2_130_706_431)
    }

    private func check(_ number: UInt64) -> ICECheck {
        ICECheck(
            transaction: STUNTransactionID(high: number, low: 0), wasControlling: true, nominates: false,
            timeout: .milliseconds(100), at: start)
    }

    @Test func aCheckIsDueAfterDoublingTimesAndThenExhausted() {
        var check = check(1)
        var due: [Duration] = [check.dueAt - start]
        while !check.isExhausted {
            check.repeated(at: check.dueAt)
            due.append(check.dueAt - start)
        }
        // As RFC 8489 6.2.1 has it, with five sends in place of seven and half the last wait.
        #expect(due == [100, 300, 700, 1500, 2300].map { .milliseconds($0) })
    }

    @Test func theLastFewRequestsAreKnown() {
        var pair = pair()
        for number in UInt64(0)..<20 { pair.keep(check(number)) }
        let known = (UInt64(0)..<20).filter { pair.request(STUNTransactionID(high: $0, low: 0)) != nil }
        #expect(known == Array(14..<20))
    }

    @Test func aCancelledCheckIsStillKnown() {
        var pair = pair()
        pair.state = .inProgress(check(5))
        pair.cancel(leaving: .waiting)
        #expect(pair.check == nil)
        #expect(pair.isWaiting)
        #expect(pair.request(STUNTransactionID(high: 5, low: 0)) != nil)
    }

    @Test func behindANATThePriorityIsThatOfAPeerReflexiveCandidate() {
        var pair = pair()
        let direct = pair.priority(isControlling: true)
        pair.validation = CandidatePair.Validation(
            roundTrip: .zero, answeredAt: start, mappedAddress: SocketAddress("192.0.2.1:1"))
        #expect(pair.priority(isControlling: true) == direct)
        pair.validation?.mappedAddress = SocketAddress("203.0.113.9:77")
        let reflexive = UInt64(110 << 24 | 65535 << 8 | 255)
        let expected: UInt64 = (reflexive << 32) + 4_261_412_862
        #expect(pair.priority(isControlling: true) == expected)
    }
}
