/// The incoming streams of a voice: one is heard, the few before it are still counted.
///
/// The VoiceEngine owns it, on the network thread. A provider has one audio stream but may begin it anew under another SSRC
/// (RFC 3550 8.2); it never holds more than four, and never allocates after its init.
struct RTPReceivers: Sendable {
    enum Verdict: Equatable, Sendable {
        /// To be played.
        case heard
        /// Valid, but of a stream that another has taken the place of.
        case superseded
        /// Far outside its stream's sequence.
        case discarded
    }

    private static let capacity = 4
    /// A stream takes its place back only after the one that is heard has been still for this long.
    private static let stillness = Duration.seconds(1)

    private var receivers: [RTPReceiver] = []
    private var heard = 0

    init() {
        receivers.reserveCapacity(Self.capacity)
    }

    /// The SSRC of the stream that is heard.
    var ssrc: UInt32? { receivers.isEmpty ? nil : receivers[heard].ssrc }

    /// The stream that is heard.
    var current: RTPReceiver? { receivers.isEmpty ? nil : receivers[heard] }

    /// Takes one authenticated packet into account. A new SSRC is heard from its first packet on.
    mutating func receive(_ header: RTPHeader, at now: Instant) -> Verdict {
        let index = index(of: header.ssrc) ?? add(header, at: now)
        if index != heard, now - receivers[heard].lastPacketAt >= Self.stillness {
            heard = index
        }
        switch receivers[index].receive(header, at: now) {
        case .discarded: return .discarded
        case .accepted, .restarted: return index == heard ? .heard : .superseded
        }
    }

    /// A sender report of one of the streams; that of a stranger is passed over.
    mutating func receive(_ info: SenderInfo, from ssrc: UInt32, at now: Instant) {
        guard let index = index(of: ssrc) else { return }
        receivers[index].receive(info, at: now)
    }

    /// What is to be reported on the stream that is heard; nil before the first packet.
    mutating func reportBlock(at now: Instant) -> ReportBlock? {
        receivers.isEmpty ? nil : receivers[heard].reportBlock(at: now)
    }

    private func index(of ssrc: UInt32) -> Int? {
        for index in receivers.indices where receivers[index].ssrc == ssrc { return index }
        return nil
    }

    /// Where the table is full, the stream that has been still for longest makes room.
    private mutating func add(_ header: RTPHeader, at now: Instant) -> Int {
        let receiver = RTPReceiver(header, at: now)
        var place = receivers.count
        if place < Self.capacity {
            receivers.append(receiver)
        } else {
            place = 0
            for index in receivers.indices where receivers[index].lastPacketAt < receivers[place].lastPacketAt {
                place = index
            }
            receivers[place] = receiver
        }
        heard = place
        return place
    }
}
