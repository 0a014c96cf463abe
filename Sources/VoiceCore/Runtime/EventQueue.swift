import Synchronization

/// What the threads have to tell the main actor about one voice, in order and bounded.
///
/// States are few and never lost; provider messages are cut off at a bound, so that a provider cannot grow memory.
final class EventQueue: Sendable {
    /// Yields whenever something waits; ends when the voice's threads have ended.
    let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private let waiting = Mutex<[RuntimeEvent]>([])
    private static let capacity = 64

    init() {
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func push(_ event: RuntimeEvent) {
        waiting.withLock { waiting in
            if waiting.count < Self.capacity { waiting.append(event) } else { waiting[Self.capacity - 1] = event }
        }
        wake.yield()
    }

    /// All that waits, oldest first.
    func drain() -> [RuntimeEvent] {
        waiting.withLock { waiting in
            defer { waiting.removeAll() }
            return waiting
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
}
