/// What is said to the ear whenever the LED says something new, so that nobody has to see it.
enum Earcon: Hashable, Sendable, CaseIterable {
    /// The microphone is heard from now on.
    case open
    /// The microphone is not heard any more; the voice goes on.
    case shut
    /// The way to the provider is being made.
    case connecting
    /// There is no voice any more.
    case ended
    /// The microphone will be shut soon.
    case limit
    case fault(Fault)

    static let allCases: [Earcon] =
        [.open, .shut, .connecting, .ended, .limit] + Fault.allCases.map(Earcon.fault)

    /// In one word: the events file's, and the name of the WAV file that takes its place.
    var name: String {
        switch self {
        case .open: "open"
        case .shut: "shut"
        case .connecting: "connecting"
        case .ended: "ended"
        case .limit: "limit"
        case .fault(let fault): fault.rawValue
        }
    }
}
