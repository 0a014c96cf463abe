import Dispatch
import Glibc
import Hardware
import VoiceCore

/// The terminal's space bar as talk button; q ends the program. Lives on the main actor and never blocks it.
///
/// The terminal gives each key at once and echoes none until `restore`, which is called before the program ends. Where standard
/// input is a pipe its bytes count as keys; its end leaves the appliance without a button.
@MainActor
final class KeyboardButton: Button {
    nonisolated let events: AsyncStream<ButtonEvent>
    private let changes: AsyncStream<ButtonEvent>.Continuation
    private let descriptor: Int32
    private let formerMode: termios?
    private var talk = KeyboardTalk()
    private var source: (any DispatchSourceRead)?
    private var timer: Task<Void, Never>?

    init(descriptor: Int32 = STDIN_FILENO) {
        self.descriptor = descriptor
        (events, changes) = AsyncStream.makeStream()
        var mode = termios()
        if isatty(descriptor) == 1, tcgetattr(descriptor, &mode) == 0 {
            formerMode = mode
            // Keys at once and not shown; interrupt and quit stay signals (termios(3)).
            mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
            tcsetattr(descriptor, TCSANOW, &mode)
        } else {
            formerMode = nil
        }
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
        // Dispatch calls it on the main queue, which is the main actor's.
        source.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.readKeys() } }
        source.resume()
        self.source = source
    }

    /// Gives the terminal back as it was found.
    func restore() {
        source?.cancel()
        source = nil
        timer?.cancel()
        if var formerMode { tcsetattr(descriptor, TCSANOW, &formerMode) }
    }

    private func readKeys() {
        var keys = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &keys, keys.count)
        guard count > 0 else {
            if count == 0 || errno != EAGAIN && errno != EINTR {
                source?.cancel()
                source = nil
            }
            return
        }
        for key in keys[..<count] {
            switch key {
            case UInt8(ascii: " "): tell(talk.struck(at: Instant.now()))
            case UInt8(ascii: "q"), 0x04:  // 0x04: end of transmission, what Control-D sends
                changes.finish()
            default: break
            }
        }
    }

    private func tell(_ change: ButtonEvent.Change?) {
        if let change { changes.yield(ButtonEvent(change, at: .nanoseconds(Instant.now().nanoseconds))) }
        timer?.cancel()
        guard let deadline = talk.deadline else { return }
        timer = Task { [weak self] in
            let wait = deadline - Instant.now()
            guard (try? await Task.sleep(for: wait, clock: SuspendingClock())) != nil, let self else { return }
            self.tell(self.talk.timePassed(at: Instant.now()))
        }
    }
}
