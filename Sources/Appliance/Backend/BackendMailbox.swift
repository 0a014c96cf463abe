internal import CCurl
import Synchronization

/// What is asked of the backend thread.
enum BackendCommand: Sendable {
    case perform(HTTPRequest, PendingResponse)
    /// The caller of that response has given up.
    case abandon(PendingResponse)
    /// Writes the file, which then is on disk whatever happens; told is why it could not be written.
    case save(StateFile, [UInt8], failed: @Sendable (String) -> Void)
    /// Opens a connection with this request where none is open, now and whenever it is lost.
    case warm(HTTPRequest)
    /// Resumes once nothing is under way, or the limit has passed.
    case whenIdle(CheckedContinuation<Void, Never>, limit: Duration)
    /// Something that was under way elsewhere has ended.
    case look
    /// Ends the thread once what is under way has ended.
    case stop
}

/// Hands commands to the backend thread and wakes it. Any thread posts; the backend thread alone takes.
final class BackendMailbox: Sendable {
    private struct State {
        var commands: [BackendCommand] = []
        var sleeper: Sleeper?
    }

    /// The multi handle whose poll is to be woken.
    ///
    /// Sendable: curl_multi_wakeup may be called from any thread, and the handle is freed only after `close()`.
    private struct Sleeper: @unchecked Sendable {
        let multi: UnsafeMutableRawPointer
    }

    private let state = Mutex(State())
    private let lastFault = Mutex<String?>(nil)
    private let work = Mutex(0)

    /// Whether something is under way in the background, between two requests perhaps.
    var isAtWork: Bool { work.withLock { $0 > 0 } }

    /// Each is followed by one `endWork`.
    func beginWork() { work.withLock { $0 += 1 } }

    func endWork() {
        work.withLock { $0 -= 1 }
        post(.look)
    }

    /// Why the backend could not be reached when it was last asked anything; nil: it could, or was not asked yet.
    var fault: String? { lastFault.withLock { $0 } }

    func note(fault: String?) {
        lastFault.withLock { $0 = fault }
    }

    func post(_ command: BackendCommand) {
        state.withLock {
            $0.commands.append(command)
            if let sleeper = $0.sleeper { curl_multi_wakeup(sleeper.multi) }
        }
    }

    /// All commands since the last call, in the order posted.
    func take() -> [BackendCommand] {
        state.withLock {
            guard !$0.commands.isEmpty else { return [] }
            let commands = $0.commands
            $0.commands.removeAll(keepingCapacity: true)
            return commands
        }
    }

    func open(_ multi: UnsafeMutableRawPointer) {
        let sleeper = Sleeper(multi: multi)
        state.withLock { $0.sleeper = sleeper }
    }

    /// From here on nobody touches the multi handle any more.
    func close() {
        state.withLock { $0.sleeper = nil }
    }
}
