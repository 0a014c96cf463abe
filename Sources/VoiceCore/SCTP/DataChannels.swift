/// The data channels of one voice (RFC 8831 and 8832): named, in both directions, opened by either side.
///
/// Owned by the engine, on the network thread, and as pure as the association that it owns. After each call the owner drains
/// `nextPacket(into:at:)` and `nextEvent()` and looks at `deadline`.
///
/// Left out: channels that are agreed on outside the channel (negotiated), and priorities, which no provider uses; partial reliability
/// of what we send: a channel that the peer opens with it is served reliably, which keeps its promise.
struct DataChannels {
    private struct Channel {
        enum Phase {
            /// We have opened it, and nothing came back yet. Messages may follow already (RFC 8832 6).
            case opening
            case ready
            /// Our part is being reset.
            case closing
        }

        let stream: UInt16
        let label: String
        var isUnordered: Bool
        let isOurs: Bool
        var phase: Phase
        /// Told as closed.
        var isToldClosed = false
        var hasReset = false
        var peerHasReset = false
    }

    private var association: SCTPAssociation
    private var channels: [Channel] = []
    private var events = FIFO<DataChannelEvent>()
    private let isDTLSClient: Bool
    private let messageLimit: Int
    /// Messages on streams of no channel, or of an unknown kind.
    private(set) var strayMessages = 0

    /// Nobody has a use for more at a time with a voice; a peer that opens more is refused.
    private static let channelLimit = 64

    /// - Parameters:
    ///   - isDTLSClient: its streams are even, the server's odd (RFC 8832 6).
    ///   - largestPacket: what DTLS carries in one record.
    ///   - messageLimit: the largest message that the peer takes.
    ///   - largestMessage: the largest that we take.
    init(
        isDTLSClient: Bool, localPort: UInt16, remotePort: UInt16, largestPacket: Int, messageLimit: Int,
        largestMessage: Int, roundTrip: Duration?, entropy: Entropy
    ) {
        self.isDTLSClient = isDTLSClient
        self.messageLimit = messageLimit
        association = SCTPAssociation(
            localPort: localPort, remotePort: remotePort, largestPacket: largestPacket, largestMessage: largestMessage,
            roundTrip: roundTrip, entropy: entropy)
    }

    var statistics: SCTPStatistics { association.statistics }
    var phase: SCTPAssociation.Phase { association.phase }

    // MARK: In

    /// DTLS is connected.
    /// - Parameter roundTrip: of the path, where it is known.
    mutating func start(at now: Instant, roundTrip: Duration? = nil) {
        if let roundTrip { association.pathMeasured(roundTrip) }
        association.start(at: now)
    }

    mutating func receive(_ packet: UnsafeRawBufferPointer, at now: Instant) {
        association.receive(packet, at: now)
        obeyAssociation()
    }

    /// Asks the other side for a sign of life at once.
    mutating func probe(at now: Instant) {
        association.beat(at: now)
    }

    mutating func handleTimeout(at now: Instant) {
        association.handleTimeout(at: now)
        obeyAssociation()
    }

    /// Opens a channel, ordered and reliable. Messages may follow at once.
    mutating func add(label: String) throws(SCTPSendError) {
        guard channels.count < Self.channelLimit else { throw .queueFull }
        var stream: UInt16 = isDTLSClient ? 0 : 1
        while channels.contains(where: { $0.stream == stream }) { stream += 2 }
        try sendControl(.opening(isUnordered: false, label: label), on: stream)
        channels.append(
            Channel(stream: stream, label: label, isUnordered: false, isOurs: true, phase: .opening))
    }

    /// Sends one message.
    /// - Throws: `notOpen` where there is no channel of that name; `tooLong`; `queueFull`. Nothing was sent then.
    mutating func send(_ bytes: [UInt8], isText: Bool, label: String) throws(SCTPSendError) {
        guard let channel = channels.first(where: { $0.label == label && $0.phase != .closing }) else {
            throw .notOpen
        }
        guard bytes.count <= messageLimit else { throw .tooLong(limit: messageLimit) }
        let protocolID: UInt32 =
            switch (isText, bytes.isEmpty) {
            case (true, false): DataChannelProtocol.text
            case (false, false): DataChannelProtocol.binary
            case (true, true): DataChannelProtocol.emptyText
            case (false, true): DataChannelProtocol.emptyBinary
            }
        // Before its ACK a channel's messages must stay behind its OPEN (RFC 8832 6).
        let isUnordered = channel.isUnordered && channel.phase == .ready
        try association.send(
            SCTPMessage(
                stream: channel.stream, protocolID: protocolID, isUnordered: isUnordered,
                bytes: bytes.isEmpty ? [0] : bytes))
    }

    /// What waits in it is still sent; `closed` comes when both sides are done (RFC 8831 6.7).
    mutating func close(label: String) {
        for index in channels.indices where channels[index].label == label && channels[index].phase != .closing {
            channels[index].phase = .closing
            association.reset(channels[index].stream)
        }
    }

    /// Ends all channels at once. The peer is told in the next packet.
    mutating func abort() {
        association.abort()
        obeyAssociation()
    }

    /// Ends all channels once everything has arrived.
    mutating func shutdown(at now: Instant) {
        association.shutdown(at: now)
        obeyAssociation()
    }

    // MARK: Out

    mutating func nextPacket(into buffer: UnsafeMutableRawBufferPointer, at now: Instant) -> Int? {
        association.nextPacket(into: buffer, at: now)
    }

    mutating func nextEvent() -> DataChannelEvent? { events.removeFirst() }

    var deadline: Instant? { association.deadline }

    // MARK: What the association says

    private mutating func obeyAssociation() {
        while let event = association.nextEvent() {
            switch event {
            case .established: closeWhatDoesNotFit()
            case .restarted: beginAnew()
            case .message(let message): take(message)
            case .incomingReset(let streams): peerReset(streams)
            case .outgoingReset(let streams): wasReset(streams)
            case .ended(let reason):
                for channel in channels where !channel.isToldClosed { events.append(.closed(label: channel.label)) }
                channels = []
                events.append(.ended(reason))
            }
        }
    }

    private mutating func take(_ message: SCTPMessage) {
        let index = channels.firstIndex { $0.stream == message.stream }
        if message.protocolID == DataChannelProtocol.control {
            takeControl(message, channel: index)
            return
        }
        guard let index, !channels[index].isToldClosed else {
            strayMessages &+= 1
            return
        }
        becomeReady(index)
        let label = channels[index].label
        switch message.protocolID {
        case DataChannelProtocol.text: events.append(.message(label: label, isText: true, bytes: message.bytes))
        case DataChannelProtocol.binary: events.append(.message(label: label, isText: false, bytes: message.bytes))
        case DataChannelProtocol.emptyText: events.append(.message(label: label, isText: true, bytes: []))
        case DataChannelProtocol.emptyBinary: events.append(.message(label: label, isText: false, bytes: []))
        default: strayMessages &+= 1
        }
    }

    private mutating func takeControl(_ message: SCTPMessage, channel index: Int?) {
        switch (DCEPMessage(message.bytes), index) {
        case (.ack, .some(let index)): becomeReady(index)
        case (.opening(let isUnordered, let label), nil) where channels.count < Self.channelLimit:
            do throws(SCTPSendError) {
                try sendControl(.ack, on: message.stream)
            } catch {
                association.reset(message.stream)
                return
            }
            channels.append(
                Channel(stream: message.stream, label: label, isUnordered: isUnordered, isOurs: false, phase: .ready))
            events.append(.opened(label: label))
        case (.opening, _), (nil, _), (.ack, nil):
            // RFC 8832 6: what cannot be opened is closed.
            strayMessages &+= 1
            if index == nil { association.reset(message.stream) }
        }
    }

    private mutating func becomeReady(_ index: Int) {
        guard channels[index].phase == .opening else { return }
        channels[index].phase = .ready
        events.append(.opened(label: channels[index].label))
    }

    private mutating func sendControl(_ message: DCEPMessage, on stream: UInt16) throws(SCTPSendError) {
        try association.send(
            SCTPMessage(stream: stream, protocolID: DataChannelProtocol.control, bytes: message.encoded))
    }

    // MARK: Closing (RFC 8831 6.7)

    private mutating func peerReset(_ streams: [UInt16]) {
        for index in channels.indices where streams.isEmpty || streams.contains(channels[index].stream) {
            channels[index].peerHasReset = true
            if channels[index].phase != .closing {
                channels[index].phase = .closing
                association.reset(channels[index].stream)
            }
            tellClosed(index)
        }
        removeDone()
    }

    private mutating func wasReset(_ streams: [UInt16]) {
        for index in channels.indices where streams.contains(channels[index].stream) {
            channels[index].hasReset = true
            tellClosed(index)
        }
        removeDone()
    }

    private mutating func tellClosed(_ index: Int) {
        guard !channels[index].isToldClosed else { return }
        channels[index].isToldClosed = true
        events.append(.closed(label: channels[index].label))
    }

    private mutating func removeDone() {
        channels.removeAll { $0.hasReset && $0.peerHasReset }
    }

    /// The peer takes fewer streams than we count on.
    private mutating func closeWhatDoesNotFit() {
        let limit = association.outboundStreams
        for index in channels.indices where channels[index].stream >= limit { tellClosed(index) }
        channels.removeAll { $0.stream >= limit }
    }

    /// The peer knows of no channel any more; ours are opened again.
    private mutating func beginAnew() {
        let ours = channels.filter { $0.isOurs && $0.phase != .closing }.map(\.label)
        for channel in channels where !channel.isToldClosed { events.append(.closed(label: channel.label)) }
        channels = []
        for label in ours { try? add(label: label) }  // the queue is empty: it cannot fail
    }
}

/// What the data channels tell, in the order it happened.
enum DataChannelEvent: Equatable, Sendable {
    case opened(label: String)
    case message(label: String, isText: Bool, bytes: [UInt8])
    case closed(label: String)
    /// The association is over, and every channel with it.
    case ended(SCTPEnd)
}
