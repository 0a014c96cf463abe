internal import CLinux
internal import Glibc
import Synchronization

/// Small command values from anywhere to one thread of ours, which is woken for them.
///
/// The thread waits on `wakeDescriptor` (an eventfd, watched edge-triggered so that it need not be read) and then takes
/// all that came. Once closed it takes no more.
final class Mailbox<Command: Sendable>: Sendable {
    let wakeDescriptor: Int32
    private let commands = Mutex<[Command]?>([])

    /// - Throws: `SystemCallError` where the process may open no more descriptors.
    init() throws(SystemCallError) {
        wakeDescriptor = try checked("eventfd") { eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) }
    }

    deinit {
        Glibc.close(wakeDescriptor)
    }

    /// - Returns: false where the thread has ended and will never see the command.
    @discardableResult
    func post(_ command: Command) -> Bool {
        let taken = commands.withLock { commands in
            commands?.append(command)
            return commands != nil
        }
        wake()
        return taken
    }

    /// Wakes the thread without a command: something waits in a queue of its own.
    func wake() {
        eventfd_write(wakeDescriptor, 1)
    }

    /// The oldest command, nil where there is none.
    func next() -> Command? {
        commands.withLock { commands in
            guard commands?.isEmpty == false else { return nil }
            return commands?.removeFirst()
        }
    }

    /// The thread ends: nothing is taken any more.
    func close() {
        commands.withLock { $0 = nil }
    }
}
