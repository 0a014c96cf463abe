import Hardware
import VoiceCore

/// A talk button pressed by a script, which can wait for what the appliance does. Lives on the main actor.
///
/// Its events end with the script; `failure` then says whether something that was waited for did not come.
@MainActor
final class ScriptedButton: Button, HappeningWatcher {
    nonisolated let events: AsyncStream<ButtonEvent>
    /// A sentence; nil while all went as the script says.
    private(set) var failure: String?

    private let script: ButtonScript
    private let changes: AsyncStream<ButtonEvent>.Continuation
    private let signal = Signal()
    private var progress = Progress()
    private var awaited: ButtonScript.Awaited?

    /// How far the appliance is, as far as it has told.
    private struct Progress {
        var isReady = false
        var state: PBVoiceState?
        var led = LEDPattern.muted
        var wasHeard = false
        var hadError = false
        /// Presses and releases that the appliance has not acted upon yet: till then its state is an old one.
        var pendingChanges = 0
    }

    init(_ script: ButtonScript) {
        self.script = script
        (events, changes) = AsyncStream.makeStream()
    }

    /// Does one step after the other; returns at the script's end.
    func run() async {
        for (index, step) in script.steps.enumerated() {
            switch step {
            case .press: change(.pressed)
            case .release: change(.released)
            case .after(let duration): try? await Task.sleep(for: duration, clock: SuspendingClock())
            case .await(let state, let limit):
                guard await wait(for: state, atMost: limit) else {
                    failure =
                        "Step \(index + 1) of the button script waited \(limit.inSeconds) s for \(state.rawValue) in vain."
                    changes.finish()
                    return
                }
            case .quit:
                changes.finish()
                return
            }
        }
        changes.finish()
    }

    func saw(_ happening: Happening, at instant: Instant) {
        switch happening {
        case .ready: progress.isReady = true
        case .button(let isPressed):
            progress.pendingChanges -= 1
            if isPressed { progress.hadError = false }
            // What is known of a voice that is over says nothing about the next.
            if progress.state == .closed || progress.state == .failed { progress.state = nil }
        case .state(let state):
            if state == .connecting, progress.state != .connected { progress.wasHeard = false }
            progress.state = state
        case .firstSound: progress.wasHeard = true
        case .led(let pattern): progress.led = pattern
        case .error: progress.hadError = true
        case .voice, .tone, .microphone, .speaker, .line, .closing, .level, .closed: return
        }
        if let awaited, isReached(awaited) { signal.fire() }
    }

    private func change(_ change: ButtonEvent.Change) {
        progress.pendingChanges += 1
        changes.yield(ButtonEvent(change, at: .nanoseconds(Instant.now().nanoseconds)))
    }

    private func wait(for state: ButtonScript.Awaited, atMost limit: Duration) async -> Bool {
        if isReached(state) { return true }
        awaited = state
        defer { awaited = nil }
        return await signal.wait(atMost: limit)
    }

    private func isReached(_ awaited: ButtonScript.Awaited) -> Bool {
        guard progress.pendingChanges == 0 else { return false }
        return switch awaited {
        case .ready: progress.isReady
        case .connecting: progress.state == .connecting || progress.state == .connected
        case .connected: progress.state == .connected
        case .closed: progress.state == .closed
        case .error: progress.hadError
        case .open: progress.led == .open
        case .firstSound: progress.wasHeard && progress.state != nil
        }
    }
}
