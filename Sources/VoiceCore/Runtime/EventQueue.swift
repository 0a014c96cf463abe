import Synchronization

/// What the threads have to tell the main actor about one voice, in order and bounded.
///
/// States are few and never lost; provider messages are cut off at a bound, so that a provider cannot grow memory.
final class EventQueue: Sendable {
    /// Yields whenever something waits; ends when the voice's threads have ended.
    let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let waiting = Mutex(Waiting())
    private static let capacity = 320
    /// What messages may take of it, so that states always find room: all but 64 places, and eight of the largest messages.
    private static let messageCapacity = 256
    private static let messageByteLimit = 2_097_152

    private struct Waiting {
        var events: [RuntimeEvent] = []
        var messageCount = 0
        var messageByteCount = 0
        var droppedMessageCount = 0
    }

    init() {
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Messages that found no room, since nobody took those before them.
    var droppedMessageCount: Int { waiting.withLock { $0.droppedMessageCount } }

    func push(_ event: RuntimeEvent) {
        waiting.withLock { waiting in
            if let byteCount = event.messageByteCount {
                guard waiting.messageCount < Self.messageCapacity,
                    waiting.messageByteCount + byteCount <= Self.messageByteLimit
                else {
                    waiting.droppedMessageCount += 1
                    return
                }
                waiting.messageCount += 1
                waiting.messageByteCount += byteCount
            }
            if waiting.events.count < Self.capacity {
                waiting.events.append(event)
            } else {
                waiting.events[Self.capacity - 1] = event
            }
        }
        wake.yield()
    }

    /// All that waits, oldest first.
    func drain() -> [RuntimeEvent] {
        waiting.withLock { waiting in
            defer {
                waiting.events.removeAll()
                waiting.messageCount = 0
                waiting.messageByteCount = 0
            }
            return waiting.events
        }
    }

    func finish() {
        wake.finish()
    }
}

/// What a voice's threads tell its face.
enum RuntimeEvent: Sendable {
    case state(PBVoiceState)
    case error(PBVoiceError)
    /// The provider's word.
    case event(VoiceEvent)
    case channelOpened(label: String)
    case channelClosed(label: String)
    case message(label: String, isText: Bool, bytes: [UInt8])
    case messageRefused(label: String, reason: String)

    /// nil where it is told by ourselves, and not at the other side's will.
    fileprivate var messageByteCount: Int? {
        switch self {
        case .state, .error: nil
        case .channelOpened(let label), .channelClosed(let label), .messageRefused(let label, _): label.utf8.count
        case .message(let label, _, let bytes): label.utf8.count + bytes.count
        case .event(.line(let line)): line.byteCount
        case .event: 0
        }
    }
}
