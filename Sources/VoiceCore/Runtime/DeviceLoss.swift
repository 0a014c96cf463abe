/// When a lost sound device is asked for again, and what is told of it: each change once. Pure; a sound thread owns it.
struct DeviceLoss {
    /// Often enough to be back within 3 s of being plugged in, seldom enough to cost nothing while it is away.
    private static let askEvery: Duration = .seconds(1)

    private let noun: StaticString
    /// Why there is none, as it was told last.
    private var told: AudioDeviceError?
    private var askAt = Instant(nanoseconds: 0)

    /// - Parameter noun: "The microphone" or "The speaker".
    init(_ noun: StaticString) {
        self.noun = noun
    }

    /// Whether it is to be opened again now.
    func isDue(at now: Instant) -> Bool { now >= askAt }

    /// It was lost, or cannot be opened.
    /// - Returns: what to report; nil where that was said before.
    mutating func lost(_ error: AudioDeviceError, at now: Instant) -> VoiceDiagnostic? {
        askAt = now + Self.askEvery
        guard told?.description != error.description else { return nil }
        told = error
        return .audioDevice(error.reason, error.description)
    }

    /// It was opened.
    /// - Returns: what to report; nil where it was not away.
    mutating func opened() -> VoiceDiagnostic? {
        guard let told else { return nil }
        self.told = nil
        return .audioDevice(told.reason, "\(noun) is back.")
    }
}
