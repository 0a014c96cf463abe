import VoiceCore

/// Reads the sound meter while there is a voice: tells its first sound soon, and its levels now and then. Lives on the main actor.
@MainActor
final class Metering {
    private let meter: SoundMeter
    private var task: Task<Void, Never>?
    /// Who is to be told of the first sound; nil: it was told.
    private var onFirstSound: (@MainActor (Instant) -> Void)?

    /// How often the levels are told; the first sound is looked for more often.
    private static let levelPeriod: Duration = .milliseconds(250)
    private static let firstSoundPeriod: Duration = .milliseconds(50)

    init(_ meter: SoundMeter) {
        self.meter = meter
    }

    /// Begins with a voice; the one before is over.
    func start(
        onFirstSound: @escaping @MainActor (Instant) -> Void,
        onReading: @escaping @MainActor (SoundMeter.Reading) -> Void
    ) {
        task?.cancel()
        self.onFirstSound = onFirstSound
        task = Task { [weak self] in
            var untilLevel = Self.levelPeriod
            while let period = self?.pause {
                guard (try? await Task.sleep(for: period, clock: SuspendingClock())) != nil, !Task.isCancelled, let self
                else { return }
                self.lookForFirstSound()
                untilLevel -= period
                guard untilLevel <= .zero else { continue }
                untilLevel = Self.levelPeriod
                onReading(self.meter.read())
            }
        }
    }

    /// Ends with the voice; a first sound that was not told yet is told now.
    func stop() {
        guard let task else { return }
        lookForFirstSound()
        task.cancel()
        self.task = nil
        onFirstSound = nil
    }

    private var pause: Duration {
        onFirstSound == nil ? Self.levelPeriod : Self.firstSoundPeriod
    }

    private func lookForFirstSound() {
        guard let tell = onFirstSound, let instant = meter.firstSoundAt else { return }
        onFirstSound = nil
        tell(instant)
    }
}
