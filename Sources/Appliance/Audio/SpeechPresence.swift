/// Whether somebody speaks into the microphone, told from its levels: louder than silence, and well above the noise of the place.
///
/// Pure; one for each voice. Without the second the noise of a busy lobby would count as speech, and a voice that nobody uses would
/// never meet its idle end.
struct SpeechPresence: Sendable {
    /// The latest levels, dB below full scale, oldest first.
    private var levels: [Double] = []

    /// 8 s of readings: longer than anybody speaks without a breath.
    private static let windowCount = 32
    /// How far speech stands out: the levels of a steady noise, four a second, differ by less.
    private static let prominence = 9.0

    /// Takes the level of the latest quarter of a second.
    mutating func hears(_ decibels: Double) -> Bool {
        if levels.count == Self.windowCount { levels.removeFirst() }
        levels.append(decibels)
        return decibels > max(SoundMeter.heardDBFS, noise + Self.prominence)
    }

    /// The mean of the quietest quarter of the levels: what is heard in the pauses.
    private var noise: Double {
        let quietest = levels.sorted().prefix(max(1, levels.count / 4))
        return quietest.reduce(0, +) / Double(max(1, quietest.count))
    }
}
