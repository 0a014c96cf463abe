/// All that the speaker can say of the state, as samples made before the first of them is needed. Made once at start; a value.
struct Earcons: Sendable {
    /// Where a sound lies in `samples`: stretches of it, one after the other.
    typealias Place = [Range<Int>]

    /// Mono, 48 kHz, Int16, at the configured volume; each note is kept once.
    private(set) var samples: [Int16] = []
    private var places: [Earcon: Place] = [:]
    private var notes: [EarconSynthesis.Note: Range<Int>] = [:]
    /// What is said at the start of each voice.
    private(set) var notice: Place?

    /// Silent ones.
    init() {}

    /// Reads the files that the config names; blocks for as long as that takes.
    /// - Parameter onProblem: told of each file that cannot be used; its tone sounds in its place.
    init(_ settings: Configuration.Tones, onProblem: (_ sentence: String) -> Void) {
        for earcon in Earcon.allCases {
            switch settings.earcons {
            case .none: break
            case .synthesised: places[earcon] = place(ofNotes: earcon, volume: settings.volume)
            case .directory(let directory):
                let path = "\(directory)/\(earcon.name).wav"
                do throws(WAVError) {
                    places[earcon] = [append(try WAVAudio(file: path).samples, volume: settings.volume)]
                } catch {
                    onProblem("The earcon \(path) cannot be used: \(error). Its tone sounds in its place.")
                    places[earcon] = place(ofNotes: earcon, volume: settings.volume)
                }
            }
        }
        guard let path = settings.notice else { return }
        do throws(WAVError) {
            notice = [append(try WAVAudio(file: path).samples, volume: settings.volume)]
        } catch {
            onProblem("The notice \(path) cannot be used: \(error). Name another in [tones] notice.")
        }
    }

    /// Where an earcon lies in `samples`; nil: it is not to be heard.
    func place(of earcon: Earcon) -> Place? {
        places[earcon]
    }

    private mutating func place(ofNotes earcon: Earcon, volume: Int) -> Place {
        EarconSynthesis.notes(of: earcon).map { note in
            if let known = notes[note] { return known }
            let range = append(EarconSynthesis.samples(of: note), volume: volume)
            notes[note] = range
            return range
        }
    }

    private mutating func append(_ sound: [Int16], volume: Int) -> Range<Int> {
        let start = samples.count
        samples += sound.map { Int16(clamping: Int($0) * volume / 100) }
        return start..<samples.count
    }
}
