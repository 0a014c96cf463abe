import Glibc
import Synchronization
import VoiceCore

/// How loud microphone and speaker are, and when the provider was first heard: measured on the audio threads, read on main.
///
/// One for the whole program. The audio threads add to it without a lock or an allocation; whoever reads takes what came since
/// the last reading.
final class SoundMeter: Sendable {
    /// Quieter than this is silence or comfort noise, not speech (dB below full scale).
    static let heardDBFS = -50.0
    /// What digital silence is shown as: below the last bit of 16 (-96 dBFS).
    static let floorDBFS = -100.0

    private let microphone = Level()
    private let speaker = Level()
    /// When the voice's first heard frame sounds, in nanoseconds; 0: not yet.
    private let firstSound = Atomic<Int64>(0)

    struct Reading: Equatable, Sendable {
        var microphoneDBFS = SoundMeter.floorDBFS
        var speakerDBFS = SoundMeter.floorDBFS
    }

    /// Begins a voice: nothing has been heard in it yet.
    func startVoice() {
        firstSound.store(0, ordering: .relaxed)
        _ = read()
    }

    /// Takes a frame from the microphone: mono, Int16, any number of samples. On the capture thread.
    func tookIn(_ frame: UnsafeMutableBufferPointer<Int16>) {
        microphone.add(Loudness(of: UnsafeBufferPointer(frame)))
    }

    /// Takes what a frame of the provider's voice was like. On the playback thread.
    /// - Parameter instant: when it sounds.
    func played(_ loudness: Loudness, at instant: Instant) {
        speaker.add(loudness)
        guard loudness.isSpeech, firstSound.load(ordering: .relaxed) == 0 else { return }
        firstSound.store(instant.nanoseconds, ordering: .relaxed)
    }

    /// When the voice was first heard; nil: not yet.
    var firstSoundAt: Instant? {
        let nanoseconds = firstSound.load(ordering: .relaxed)
        return nanoseconds == 0 ? nil : Instant(nanoseconds: nanoseconds)
    }

    /// The levels since the last reading.
    func read() -> Reading {
        Reading(microphoneDBFS: microphone.take(), speakerDBFS: speaker.take())
    }

    /// How loud a stretch of sound is.
    struct Loudness {
        /// The sum of the samples' squares.
        let energy: UInt64
        let sampleCount: Int

        /// - Parameter frame: mono, Int16, any number of samples.
        init(of frame: UnsafeBufferPointer<Int16>) {
            var sum: Int64 = 0
            for sample in frame { sum &+= Int64(sample) &* Int64(sample) }
            energy = UInt64(truncatingIfNeeded: sum)
            sampleCount = frame.count
        }

        /// Whether it is louder than silence or comfort noise.
        var isSpeech: Bool { energy > Self.heardEnergyPerSample * UInt64(sampleCount) }

        /// `heardDBFS` as a mean square of samples.
        private static let heardEnergyPerSample = UInt64(pow(10, heardDBFS / 10) * 32_768 * 32_768)
    }

    /// The power of what came since it was last taken. Written by one thread, read by another.
    private final class Level: Sendable {
        private let energy = Atomic<UInt64>(0)
        private let sampleCount = Atomic<Int>(0)

        func add(_ loudness: Loudness) {
            energy.wrappingAdd(loudness.energy, ordering: .relaxed)
            sampleCount.wrappingAdd(loudness.sampleCount, ordering: .relaxed)
        }

        /// In dB below a full-scale square wave. A frame that is added meanwhile may fall half into this reading: 10 ms of 250.
        func take() -> Double {
            let energy = energy.exchange(0, ordering: .relaxed)
            let sampleCount = sampleCount.exchange(0, ordering: .relaxed)
            guard energy > 0, sampleCount > 0 else { return SoundMeter.floorDBFS }
            let power = Double(energy) / Double(sampleCount) / (32_768 * 32_768)
            return max(SoundMeter.floorDBFS, 10 * log10(power))
        }
    }
}
