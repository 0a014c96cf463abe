/// All that the speaker can say of the state, as samples made before the first of them is needed. Made once at start; a value.
struct Earcons: Sendable {
    /// Mono, 48 kHz, Int16, at the configured volume: one sound after the other.
    private(set) var samples: [Int16] = []
    private var places: [Earcon: Range<Int>] = [:]
    /// What is said at the start of each voice.
    private(set) var notice: Range<Int>?

    /// Silent ones.
    init() {}

    /// Reads the files that the config names; blocks for as long as that takes.
    /// - Parameter onProblem: told of each file that cannot be used; its tone sounds in its place.
    init(_ settings: Configuration.Tones, onProblem: (_ sentence: String) -> Void) {
        // Of the faults the longest first: the others are beginnings of it and take no memory of their own.
        for earcon in Earcon.allCases.reversed() {
            guard let sound = Self.sound(of: earcon, settings.earcons, onProblem) else { continue }
            places[earcon] = append(sound, volume: settings.volume)
        }
        guard let path = settings.notice else { return }
        do throws(WAVError) {
            notice = append(try WAVAudio(file: path).samples, volume: settings.volume)
        } catch {
            onProblem("The notice \(path) cannot be used: \(error). Name another in [tones] notice.")
        }
    }

    /// Where an earcon lies in `samples`; nil: it is not to be heard.
    func place(of earcon: Earcon) -> Range<Int>? {
        places[earcon]
    }

    private static func sound(
        of earcon: Earcon, _ source: EarconSource, _ onProblem: (_ sentence: String) -> Void
    ) -> [Int16]? {
        switch source {
        case .none: return nil
        case .synthesised: return EarconSynthesis.samples(of: earcon)
        case .directory(let directory):
            let path = "\(directory)/\(earcon.name).wav"
            do throws(WAVError) {
                return try WAVAudio(file: path).samples
            } catch {
                onProblem("The earcon \(path) cannot be used: \(error). Its tone sounds in its place.")
                return EarconSynthesis.samples(of: earcon)
            }
        }
    }

    private mutating func append(_ sound: [Int16], volume: Int) -> Range<Int> {
        let sound = sound.map { Int16(clamping: Int($0) * volume / 100) }
        for known in places.values where samples[known].starts(with: sound) {
            return known.lowerBound..<known.lowerBound + sound.count
        }
        let start = samples.count
        samples += sound
        return start..<samples.count
    }
}
