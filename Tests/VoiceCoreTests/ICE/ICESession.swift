@testable import Support
@testable import VoiceCore

/// Two machines on a network of their own, the first of which offers.
struct ICESession {
    let network: VirtualNetwork
    let offerer: ICENode
    let answerer: ICENode

    init(
        seed: UInt64, offererControls: Bool = true, answererControls: Bool = false, answererIsLite: Bool = false,
        offererAddresses: [String] = ["192.0.2.1:5000"], answererAddresses: [String] = ["198.51.100.1:6000"]
    ) {
        network = VirtualNetwork(seed: seed)
        offerer = ICENode(
            isControlling: offererControls, seed: seed &* 2 &+ 1, addresses: offererAddresses, at: network.now)
        answerer = ICENode(
            isControlling: answererControls, isLite: answererIsLite, seed: seed &* 2 &+ 2,
            addresses: answererAddresses, at: network.now)
        network.add(offerer)
        network.add(answerer)
    }

    /// The answerer has the offer at once, the offerer the answer after `delay`.
    func signal(answerAfter delay: Duration = .zero) {
        answerer.setRemote(offerer, at: network.now)
        network.run(delay)
        offerer.setRemote(answerer, at: network.now)
    }

    /// Runs until both have selected a route.
    func connect(within limit: Duration = .seconds(30)) -> Bool {
        network.run(until: { offerer.isConnected && answerer.isConnected }, within: limit)
        return offerer.isConnected && answerer.isConnected
    }

    /// The routes as each side sees them where nothing is in between.
    static let toAnswerer = Route(path: PathID(rawValue: 0), remote: SocketAddress("198.51.100.1:6000"))
    static let toOfferer = Route(path: PathID(rawValue: 0), remote: SocketAddress("192.0.2.1:5000"))
}
