internal import CLinux
internal import Glibc

/// Starts the threads of ours: named pthreads, with real-time priority where the system allows it.
///
/// The thread runs `body` once and ends; nobody joins it. What it works on is held by `body`'s captures. Its pulse, which `body` is
/// handed, is among the living ones as long as it runs.
enum RealtimeThread {
    /// SCHED_FIFO priorities, below those of the kernel's own interrupt threads (50).
    enum Priority: Int32 {
        case network = 40
        case sound = 45
    }

    /// - Parameters:
    ///   - name: at most 15 bytes, as the kernel keeps it.
    ///   - onDiagnostic: told once where real-time priority is refused; the thread runs all the same.
    /// - Throws: `SystemCallError` where the process may make no more threads.
    static func start(
        _ name: String, priority: Priority, onDiagnostic: @escaping @Sendable (VoiceDiagnostic) -> Void,
        _ body: @escaping @Sendable (Pulse) -> Void
    ) throws(SystemCallError) {
        let pulse = Pulse(name, at: .now)
        let start = Unmanaged.passRetained(
            Body {
                LivePulses.add(pulse)
                defer { LivePulses.remove(pulse) }
                talkpost_name_thread(name)
                var parameters = sched_param(sched_priority: priority.rawValue)
                let refused = pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameters)
                if refused != 0 {
                    onDiagnostic(.realtimeRefused(thread: name, reason: String(cString: strerror(refused))))
                }
                body(pulse)
            })
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 512 * 1024)  // Opus and the audio processing need well under half of it
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, &attributes,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, start.toOpaque())
        if failure != 0 {
            start.release()
            throw SystemCallError(call: "pthread_create \(name)", number: failure)
        }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}
