/// The requests to begin streams anew, ours and the peer's (RFC 6525): what closes a data channel (RFC 8831 6.7).
///
/// A part of the association. One request of ours is on its way at a time. Left out: resets that are asked of us for our own streams or
/// for TSNs, and more streams, which data channels do not use; they are denied.
struct StreamResets {
    /// RFC 6525 4.4.
    enum Outcome: UInt32 {
        case nothingToDo = 0
        case performed = 1
        case denied = 2
        case badSequence = 5
        case inProgress = 6
    }

    /// Streams of ours that are to begin anew once all of theirs has arrived.
    private var wanted: [UInt16] = []
    /// The request that waits for its answer.
    private var request: (number: UInt32, streams: [UInt16], attempts: Int)?
    private(set) var retryAt: Instant?
    private var nextNumber: UInt32
    private var nextPeerNumber: UInt32
    private var lastOutcome = Outcome.nothingToDo
    private var answers: [(number: UInt32, outcome: Outcome)] = []
    private var mustSendRequest = false

    /// As many as one packet tells; the rest follows.
    private static let streamLimit = 128
    /// RFC 9260 16: Association.Max.Retrans.
    private static let attemptLimit = 10
    private static let answerLimit = 2

    /// The first TSN of each side is also its first request's number (RFC 6525 4.1).
    init(localTSN: UInt32, peerTSN: UInt32) {
        nextNumber = localTSN
        nextPeerNumber = peerTSN
    }

    /// The peer's first TSN is known.
    mutating func begin(peerTSN: UInt32) {
        nextPeerNumber = peerTSN
    }

    mutating func want(_ stream: UInt16) {
        if !wanted.contains(stream) { wanted.append(stream) }
    }

    /// Whether something is to be written.
    var isDue: Bool { mustSendRequest || !answers.isEmpty }

    /// Whether `prepare` may make a request.
    var isWaiting: Bool { request == nil && !wanted.isEmpty }

    /// Makes the next request of the streams of which nothing is on its way any more.
    mutating func prepare(isBusy: (UInt16) -> Bool) {
        guard request == nil, !wanted.isEmpty else { return }
        let ready = wanted.filter { !isBusy($0) }.prefix(Self.streamLimit)
        guard !ready.isEmpty else { return }
        wanted.removeAll { ready.contains($0) }
        request = (nextNumber, Array(ready), 0)
        nextNumber &+= 1
        mustSendRequest = true
    }

    /// The value of a RE-CONFIG chunk: at most two parameters (RFC 6525 3.1).
    mutating func write(to writer: inout ByteWriter, lastTSN: UInt32, at now: Instant, timeout: Duration) {
        for answer in answers {
            writer.parameter(SCTPParameterType.reconfigurationResponse) {
                $0.uint32(answer.number)
                $0.uint32(answer.outcome.rawValue)
            }
        }
        let hasAnswered = !answers.isEmpty
        answers.removeAll(keepingCapacity: true)
        guard mustSendRequest, !hasAnswered, let request else { return }
        mustSendRequest = false
        retryAt = now + timeout
        writer.parameter(SCTPParameterType.outgoingReset) {
            $0.uint32(request.number)
            $0.uint32(nextPeerNumber &- 1)
            $0.uint32(lastTSN)
            for stream in request.streams { $0.uint16(stream) }
        }
    }

    /// The answer has not come in time.
    /// - Returns: the streams, where it is given up.
    mutating func handleTimeout(at now: Instant) -> [UInt16]? {
        guard let due = retryAt, due <= now else { return nil }
        retryAt = nil
        guard let attempts = request?.attempts else { return nil }
        guard attempts < Self.attemptLimit else {
            defer { request = nil }
            return request?.streams
        }
        request?.attempts = attempts + 1
        mustSendRequest = true
        return nil
    }

    /// The peer answers.
    /// - Returns: the streams whose reset is over, and whether they begin anew.
    mutating func receiveResponse(_ value: UnsafeRawBufferPointer) -> (streams: [UInt16], isPerformed: Bool)? {
        var reader = ByteReader(value)
        guard let number = try? reader.uint32(), let result = try? reader.uint32(), let request,
            number == request.number
        else { return nil }
        // It is asked again when the timer says so, and answered then.
        guard result != Outcome.inProgress.rawValue else { return nil }
        self.request = nil
        retryAt = nil
        mustSendRequest = false
        return (request.streams, result <= Outcome.performed.rawValue)
    }

    /// The peer begins streams of its own anew. It is answered.
    /// - Parameter cumulativeTSN: up to where all of the peer's has come.
    /// - Returns: these streams, none for all; nil where nothing is to be done (now).
    mutating func receiveOutgoing(_ value: UnsafeRawBufferPointer, cumulativeTSN: UInt32) -> [UInt16]? {
        var reader = ByteReader(value)
        guard let number = try? reader.uint32(), (try? reader.skip(4)) != nil, let lastTSN = try? reader.uint32() else {
            return nil
        }
        let isRepeated = number == nextPeerNumber &- 1
        guard number == nextPeerNumber || isRepeated else {
            answer(number, .badSequence)
            return nil
        }
        if isRepeated, lastOutcome != .inProgress {
            answer(number, lastOutcome)
            return nil
        }
        nextPeerNumber = number &+ 1
        guard !cumulativeTSN.precedes(lastTSN) else {
            lastOutcome = .inProgress
            answer(number, .inProgress)
            return nil
        }
        var streams: [UInt16] = []
        while let stream = try? reader.uint16() { streams.append(stream) }
        lastOutcome = .performed
        answer(number, .performed)
        return streams
    }

    /// The peer asks for something that is not done here.
    mutating func deny(_ value: UnsafeRawBufferPointer) {
        var reader = ByteReader(value)
        guard let number = try? reader.uint32() else { return }
        if number == nextPeerNumber {
            nextPeerNumber &+= 1
            lastOutcome = .denied
        }
        answer(number, .denied)
    }

    private mutating func answer(_ number: UInt32, _ outcome: Outcome) {
        if answers.count < Self.answerLimit { answers.append((number, outcome)) }
    }
}
