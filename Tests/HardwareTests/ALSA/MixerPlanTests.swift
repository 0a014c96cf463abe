import Testing

@testable import Hardware

@Suite struct MixerPlanTests {
    private static let settings = MixerSettings(
        speakerPercent: 60, microphonePercent: 75, outputs: ["Headset", "Headphone", "Speaker"])

    private static func toggle(_ name: String) -> MixerElement { TestMixer.toggle(name) }
    private static func level(_ name: String, _ range: ClosedRange<Int> = 0...100) -> MixerElement {
        TestMixer.level(name, range)
    }

    /// A laptop's card.
    private static let board = [
        level("Master Playback Volume", 0...87), toggle("Master Playback Switch"),
        level("PCM Playback Volume", 0...255),
        level("Headphone Playback Volume", 0...50), toggle("Headphone Playback Switch"),
        level("Speaker Playback Volume", 0...50), toggle("Speaker Playback Switch"),
        level("Mic Playback Volume"), toggle("Mic Playback Switch"), level("Mic Boost Volume", 0...3),
        level("Capture Volume", 0...63), toggle("Capture Switch"), toggle("Headphone Jack"), toggle("Headset Mic Jack"),
        toggle("Auto-Mute Mode"), TestMixer.choice("Input Source", ["Internal Mic", "Headset Mic"]),
    ]

    private static func plan(
        _ elements: [MixerElement] = board, microphone: Bool = true, speaker: Bool = true
    ) -> MixerPlan {
        MixerPlan(settings, uses: MixerPlan.Uses(microphone: microphone, speaker: speaker), elements: elements)
    }

    /// Every control in its middle, nothing plugged in but `plugged`.
    private static func values(_ elements: [MixerElement], plugged: [String] = []) -> [MixerElement.ID: [Int]] {
        var values: [MixerElement.ID: [Int]] = [:]
        for element in elements {
            var value = plugged.contains(element.id.name) ? 1 : 0
            if case .level(let range) = element.kind { value = (range.lowerBound + range.upperBound) / 2 }
            values[element.id] = [value, value]
        }
        return values
    }

    private static func wanted(_ plan: MixerPlan, _ values: [MixerElement.ID: [Int]]) -> [String: Int] {
        var wanted: [String: Int] = [:]
        for setting in plan.settings(values) { wanted[setting.element.id.name] = setting.values.first }
        return wanted
    }

    @Test func withNothingPluggedInTheSpeakerSounds() {
        let values = Self.values(Self.board)
        #expect(Self.plan().route(values) == "Speaker")
        #expect(
            Self.wanted(Self.plan(microphone: false), values) == [
                "Master Playback Switch": 1, "Speaker Playback Switch": 1, "Headphone Playback Switch": 0,
                "Speaker Playback Volume": 30,
            ])
    }

    @Test func aPluggedHeadphoneTakesOver() {
        let values = Self.values(Self.board, plugged: ["Headphone Jack"])
        #expect(Self.plan().route(values) == "Headphone")
        #expect(
            Self.wanted(Self.plan(microphone: false), values) == [
                "Master Playback Switch": 1, "Speaker Playback Switch": 0, "Headphone Playback Switch": 1,
                "Headphone Playback Volume": 30,
            ])
    }

    @Test func theMicrophoneIsSwitchedOnAndNothingElseOfIt() {
        #expect(
            Self.wanted(Self.plan(speaker: false), Self.values(Self.board)) == [
                "Capture Switch": 1, "Capture Volume": 47,
            ])
    }

    @Test func aPluggedHeadsetsMicrophoneIsTheSource() {
        let values = Self.values(Self.board, plugged: ["Headset Mic Jack"])
        #expect(Self.wanted(Self.plan(speaker: false), values)["Input Source"] == 1)
    }

    @Test(arguments: [
        (["Headset Jack", "Headphone Jack"], "Headset"), (["Headphone Jack"], "Headphone"),
        (["Headphone Front Jack"], "Headphone"), ([], "Speaker"),
    ])
    func theConfiguredOrderDecides(plugged: [String], route: String) {
        let jacks = ["Headset Jack", "Headphone Jack", "Headphone Front Jack"].map(Self.toggle)
        let elements = jacks + [Self.toggle("Speaker Playback Switch")]
        #expect(Self.plan(elements).route(Self.values(elements, plugged: plugged)) == route)
    }

    @Test func aCardThatKnowsNoneOfTheNamesIsStillHeard() {
        let elements = [Self.level("PCM Playback Volume", -50...0), Self.toggle("PCM Playback Switch")]
        let plan = Self.plan(elements)
        let values = Self.values(elements)
        #expect(plan.route(values) == nil)
        #expect(Self.wanted(plan, values) == ["PCM Playback Volume": -20, "PCM Playback Switch": 1])
    }

    @Test func aSilentControlOnTheWayIsRaised() {
        var values = Self.values(Self.board)
        values[Self.board[0].id] = [0, 0]
        let wanted = Self.wanted(Self.plan(microphone: false), values)
        #expect(wanted["Master Playback Volume"] == 52)
        #expect(wanted["PCM Playback Volume"] == nil)
    }

    @Test func whatIsNotTheVoicesIsNeverTouched() {
        let names = Set(Self.plan().touchable.map(\.id.name))
        #expect(
            names.isDisjoint(with: [
                "Mic Playback Volume", "Mic Playback Switch", "Mic Boost Volume", "Auto-Mute Mode", "Headphone Jack",
            ]))
        #expect(Self.plan(microphone: false, speaker: false).touchable.isEmpty)
    }

    @Test func ofSeveralInputsOnlyTheMicrophonesAreOpened() {
        let elements = [Self.toggle("Line Capture Switch"), Self.toggle("Mic Capture Switch")]
        #expect(Self.wanted(Self.plan(elements), Self.values(elements)) == ["Mic Capture Switch": 1])
        let others = [Self.toggle("Line Capture Switch")]
        #expect(Self.wanted(Self.plan(others), Self.values(others)) == ["Line Capture Switch": 1])
    }

    @Test func whatCannotBeWrittenIsLeft() {
        var element = Self.toggle("Mic Capture Switch")
        element.isWritable = false
        #expect(Self.plan([element]).touchable.isEmpty)
    }

    @Test func aRangeOfAllNumbersDoesNotTrap() {
        let elements = [Self.level("PCM Playback Volume", Int.min...Int.max)]
        #expect(Self.wanted(Self.plan(elements), [:])["PCM Playback Volume"] != nil)
    }

    @Test(
        arguments: [
            ("Headphone Playback Switch", "Headphone", SoundDirection.playback, ControlName.Function.toggle),
            ("Capture Volume", "", .capture, .level), ("Input Source", "", .capture, .source),
            ("Headset Mic Jack", "Headset Mic", nil, .jack), ("Speaker Switch", "Speaker", nil, .toggle),
            ("Auto-Mute Mode", "Auto-Mute Mode", nil, .other), ("", "", nil, .other), ("Switch", "", nil, .toggle),
        ] as [(String, String, SoundDirection?, ControlName.Function)])
    func aNameSaysWhatItsControlDoes(
        name: String, source: String, direction: SoundDirection?, function: ControlName.Function
    ) {
        let meaning = ControlName(name)
        #expect(meaning.source == source)
        #expect(meaning.direction == direction)
        #expect(meaning.function == function)
    }
}
