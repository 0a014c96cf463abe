import Glibc

/// Makes the earcons out of sine waves. Pure: an earcon in, its samples out.
///
/// Each differs from the others by the way its notes go, so that nobody has to know pitches: up, down, one short note, three notes
/// down, three high pips; a fault is a low hum and then its code, number after number, in as many beeps as the LED has flicks.
enum EarconSynthesis {
    static let samplesPerSecond = 48_000
    /// How high the waves go, full scale being 1: summed with speech they seldom meet the limit.
    static let amplitude = 0.9
    /// How long a note swells and dies away, so that it does not click.
    private static let ramp: Duration = .milliseconds(8)

    struct Note: Hashable {
        /// 0: a rest.
        var hertz: Double
        var length: Duration

        fileprivate static func rest(_ length: Duration) -> Note { Note(hertz: 0, length: length) }
    }

    /// Mono, 48 kHz, Int16, silent at both ends.
    static func samples(of earcon: Earcon) -> [Int16] {
        notes(of: earcon).flatMap(samples(of:))
    }

    static func notes(of earcon: Earcon) -> [Note] {
        let short: Duration = .milliseconds(60)
        switch earcon {
        case .open: return [Note(hertz: 660, length: short), Note(hertz: 880, length: .milliseconds(90))]
        case .shut: return [Note(hertz: 880, length: short), Note(hertz: 660, length: .milliseconds(90))]
        case .connecting: return [Note(hertz: 520, length: short)]
        case .ended: return [660, 520, 390].map { Note(hertz: $0, length: .milliseconds(100)) }
        case .limit: return (0..<3).flatMap { _ in [Note(hertz: 1320, length: short), .rest(short)] }
        case .fault(let fault):
            let hum = [Note(hertz: 196, length: .milliseconds(250)), .rest(.milliseconds(150))]
            return hum + beeps(fault.code.place, hertz: 390) + [.rest(.milliseconds(300))]
                + beeps(fault.code.detail, hertz: 520)
        }
    }

    private static func beeps(_ count: Int, hertz: Double) -> [Note] {
        let beep = [Note(hertz: hertz, length: .milliseconds(80)), .rest(.milliseconds(100))]
        return (0..<count).flatMap { _ in beep }
    }

    static func samples(of note: Note) -> [Int16] {
        let count = sampleCount(note.length)
        let rampCount = sampleCount(ramp)
        return (0..<count).map { index in
            let nearestEnd = Double(min(index, count - 1 - index, rampCount)) / Double(rampCount)
            let envelope = (1 - cos(.pi * nearestEnd)) / 2
            let wave = sin(2 * .pi * note.hertz * Double(index) / Double(samplesPerSecond))
            return Int16(amplitude * envelope * wave * Double(Int16.max))
        }
    }

    private static func sampleCount(_ length: Duration) -> Int {
        Int(length / .milliseconds(1)) * samplesPerSecond / 1000
    }
}
