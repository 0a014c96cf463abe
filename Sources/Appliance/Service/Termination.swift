import Dispatch
import Glibc

/// SIGTERM and SIGINT, as an orderly end; a program whose pipe was closed on it goes on. Lives on the main actor.
@MainActor
final class Termination {
    private var sources: [any DispatchSourceSignal] = []

    init(_ end: @escaping @MainActor () -> Void) {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            // Dispatch calls it on the main queue, which is the main actor's.
            source.setEventHandler { MainActor.assumeIsolated { end() } }
            source.resume()
            sources.append(source)
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
