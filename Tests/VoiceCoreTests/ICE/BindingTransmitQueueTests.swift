import Testing

@testable import Support
@testable import VoiceCore

@Suite struct BindingTransmitQueueTests {
    private let route = Route(path: PathID(rawValue: 0), remote: SocketAddress("192.0.2.1:1"))

    private func response(_ number: UInt64) -> BindingTransmit {
        .success(STUNTransactionID(high: number, low: 0), to: route)
    }

    private var request: BindingTransmit {
        let check = ICECheck(
            transaction: STUNTransactionID(high: 0, low: 0), wasControlling: true, nominates: false,
            timeout: .seconds(1), at: Instant(nanoseconds: 0))
        return .request(check, priority: 1, to: route)
    }

    @Test func whatCameFirstGoesFirst() {
        var queue = BindingTransmitQueue()
        for number in UInt64(0)..<10 { _ = queue.append(response(number)) }
        var order: [UInt64] = []
        while case .success(let transaction, _) = queue.removeFirst() { order.append(transaction.high) }
        #expect(order == Array(0..<10))
        #expect(queue.isEmpty)
    }

    @Test func responsesLeaveRoomForRequests() {
        var queue = BindingTransmitQueue()
        let responses = (0..<1000).filter { queue.append(response(UInt64($0))) }.count
        let requests = (0..<1000).filter { _ in queue.append(request) }.count
        #expect(responses == 48)
        #expect(requests == 16)
    }
}
