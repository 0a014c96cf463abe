/// What the config wants of the mixer.
public struct MixerSettings: Equatable, Sendable {
    /// In percent of the control's range, as amixer shows it.
    public var speakerPercent: Int
    /// The same.
    public var microphonePercent: Int
    /// The outputs in the order in which they are taken, by the first words of their controls' names.
    public var outputs: [String]

    public init(speakerPercent: Int, microphonePercent: Int, outputs: [String]) {
        self.speakerPercent = speakerPercent
        self.microphonePercent = microphonePercent
        self.outputs = outputs
    }
}

/// Decides what a card's controls are set to for a voice. Pure: controls and their values in, values out.
///
/// It touches the few controls that a voice needs and no others: what lets a microphone be heard in the speaker ("Mic Playback
/// Switch"), boosts and effects stay as they are.
struct MixerPlan {
    /// What the card is used for.
    struct Uses: Equatable, Sendable {
        var microphone: Bool
        var speaker: Bool
    }

    struct Setting: Equatable, Sendable {
        var element: MixerElement
        var values: [Int]
    }

    let settings: MixerSettings
    let uses: Uses
    private let elements: [MixerElement]

    /// What stands before every output, from the ear inward.
    private static let common = ["Master", "PCM", "Digital", "DAC", "Front", "Output", ""]

    init(_ settings: MixerSettings, uses: Uses, elements: [MixerElement]) {
        self.settings = settings
        self.uses = uses
        self.elements = elements.filter { $0.isWritable || $0.meaning.function == .jack }
    }

    /// Every control that some route may change: their values are to be known before the first is changed.
    var touchable: [MixerElement] {
        elements.filter { element in
            let name = element.meaning
            switch (name.function, element.kind) {
            case (.toggle, .toggle), (.level, .level):
                return (uses.speaker && isPlayback(name)) || (uses.microphone && isCapture(name))
            case (.source, .choice): return uses.microphone && name.direction == .capture
            case (.toggle, _), (.level, _), (.source, _), (.jack, _), (.other, _): return false
            }
        }
    }

    /// The controls that say what is plugged in.
    var jacks: [MixerElement] {
        elements.filter { $0.meaning.function == .jack && $0.kind == .toggle }
    }

    /// The output that sounds: the first whose jack is plugged, else the first that has none and is always there.
    /// - Returns: nil where the card knows none of the names.
    func route(_ values: [MixerElement.ID: [Int]]) -> String? {
        let plugged = settings.outputs.first { output in
            jacks.contains { Self.belongs($0.meaning.source, to: output) && Self.isOn(values[$0.id]) }
        }
        let fixed = settings.outputs.first { output in
            !jacks.contains { Self.belongs($0.meaning.source, to: output) }
                && touchable.contains { isPlayback($0.meaning) && Self.belongs($0.meaning.source, to: output) }
        }
        return plugged ?? fixed
    }

    /// What to set now. A control that is not named keeps, or gets back, the value that it had before the voice.
    /// - Parameter values: of `touchable` as they were before the voice, and of `jacks` as they are.
    func settings(_ values: [MixerElement.ID: [Int]]) -> [Setting] {
        var wanted: [Setting] = []
        if uses.speaker { wanted += speaker(values) }
        if uses.microphone { wanted += microphone(values) }
        return wanted
    }

    private func speaker(_ values: [MixerElement.ID: [Int]]) -> [Setting] {
        let route = route(values)
        let elements = touchable.filter { isPlayback($0.meaning) }
        let owners = ([route].compactMap { $0 } + Self.common)
        let chain = elements.filter { element in
            Self.common.contains(element.meaning.source)
                || route.map { Self.belongs(element.meaning.source, to: $0) } ?? false
        }
        var wanted: [Setting] = []
        for element in elements where element.kind == .toggle {
            let isInChain = chain.contains(element)
            // Without a known route no output is switched off.
            guard isInChain || route != nil else { continue }
            wanted.append(Self.all(element, isInChain ? 1 : 0))
        }
        let rank = { (element: MixerElement) in
            owners.firstIndex { owner in
                owner == route ? Self.belongs(element.meaning.source, to: owner) : element.meaning.source == owner
            } ?? owners.count
        }
        return wanted + levels(chain, percent: settings.speakerPercent, values, rank: rank)
    }

    private func microphone(_ values: [MixerElement.ID: [Int]]) -> [Setting] {
        let elements = touchable.filter { $0.meaning.direction == .capture }
        var wanted = elements.filter { $0.meaning.function == .toggle }.map { Self.all($0, 1) }
        let pluggedIn = jacks.filter { Self.isOn(values[$0.id]) && Self.isMicrophone($0.meaning.source) }
        for element in elements {
            guard case .choice(let items) = element.kind,
                let item = items.firstIndex(where: { item in pluggedIn.contains { $0.meaning.source == item } })
            else { continue }
            wanted.append(Self.all(element, item))
        }
        // The microphone's own control before the one that all inputs share.
        let rank = { (element: MixerElement) in Self.isMicrophone(element.meaning.source) ? 0 : 1 }
        return wanted + levels(elements, percent: settings.microphonePercent, values, rank: rank)
    }

    /// The levels of lowest rank get the percentage. Others keep what they had, so that the percentage counts once; one that lets
    /// nothing through is raised too.
    private func levels(
        _ elements: [MixerElement], percent: Int, _ values: [MixerElement.ID: [Int]], rank: (MixerElement) -> Int
    ) -> [Setting] {
        let levels = elements.filter { $0.meaning.function == .level }
        let first = levels.map(rank).min()
        return levels.compactMap { element in
            guard case .level(let range) = element.kind else { return nil }
            let isSilent = values[element.id]?.allSatisfy { $0 <= range.lowerBound } ?? true
            guard rank(element) == first || isSilent else { return nil }
            return Self.all(element, Self.value(percent, of: range))
        }
    }

    // MARK: Names

    private func isPlayback(_ name: ControlName) -> Bool {
        guard name.direction != .capture else { return false }
        // "Speaker Switch" is the speaker's; a common word without a direction may be anything's.
        let isOutput = settings.outputs.contains { Self.belongs(name.source, to: $0) }
        return isOutput && !Self.isMicrophone(name.source)
            || name.direction == .playback && Self.common.contains(name.source)
    }

    private func isCapture(_ name: ControlName) -> Bool {
        guard name.direction == .capture else { return false }
        return Self.isVoiceInput(name.source)
            || !elements.contains { other in
                let other = other.meaning
                return other.direction == .capture && other.function == name.function && Self.isVoiceInput(other.source)
            }
    }

    private static func isVoiceInput(_ source: String) -> Bool {
        isMicrophone(source) || ["", "ADC", "Digital", "Input"].contains(source)
    }

    private static func isMicrophone(_ source: String) -> Bool {
        let words = source.split(separator: " ")
        let names: Set<Substring> = ["Mic", "Microphone", "Headset", "Handset"]
        return words.contains { names.contains($0) } && !words.contains("Boost")
    }

    private static func belongs(_ source: String, to output: String) -> Bool {
        source.lowercased().hasPrefix(output.lowercased())
    }

    private static func isOn(_ values: [Int]?) -> Bool { values?.contains { $0 != 0 } ?? false }

    private static func all(_ element: MixerElement, _ value: Int) -> Setting {
        Setting(element: element, values: [Int](repeating: value, count: element.valueCount))
    }

    private static func value(_ percent: Int, of range: ClosedRange<Int>) -> Int {
        // A driver may name any range of 64 bits: in floating point nothing can overflow, and the ends are exact enough.
        let span = Double(range.upperBound) - Double(range.lowerBound)
        let value = Double(range.lowerBound) + span * Double(min(100, max(0, percent))) / 100
        return Int(exactly: value.rounded()).map { min(range.upperBound, max(range.lowerBound, $0)) }
            ?? range.upperBound
    }
}
