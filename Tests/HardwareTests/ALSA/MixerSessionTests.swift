import Testing

@testable import Hardware

@Suite struct MixerSessionTests {
    private static let settings = MixerSettings(
        speakerPercent: 50, microphonePercent: 50, outputs: ["Headphone", "Speaker"])
    private static let gone = ALSAError(.lost, "the card is gone", cure: "plug it in")
    private static let before = [
        "Speaker Playback Switch": 0, "Speaker Playback Volume": 3, "Headphone Playback Switch": 1,
        "Headphone Playback Volume": 7, "Mic Capture Switch": 1, "Mic Capture Volume": 9, "Headphone Jack": 0,
    ]

    private let folder: TestFolder
    private let card: TestMixer

    init() throws {
        folder = try TestFolder()
        card = Self.card()
    }

    private static func card(_ values: [String: Int] = before) -> TestMixer {
        TestMixer(
            [
                TestMixer.toggle("Speaker Playback Switch"), TestMixer.level("Speaker Playback Volume", 0...100),
                TestMixer.toggle("Headphone Playback Switch"), TestMixer.level("Headphone Playback Volume", 0...100),
                TestMixer.toggle("Mic Capture Switch"), TestMixer.level("Mic Capture Volume", 0...20),
                TestMixer.toggle("Headphone Jack"),
            ], values)
    }

    private static let use = MixerSession<TestMixer>.Use(
        cardID: "Board", uses: MixerPlan.Uses(microphone: true, speaker: true))

    /// A session whose only card is `card`; nil: there is none.
    private func session(_ card: TestMixer?) -> MixerSession<TestMixer> {
        MixerSession(Self.settings, file: SavedMixerFile(directory: folder.path)) {
            (cardID) throws(ALSAError) -> TestMixer in
            guard cardID == "Board", let card else {
                throw ALSAError(.absent, "there is no sound card \(cardID)", cure: "plug it in")
            }
            return card
        }
    }

    private var saved: SavedMixer? { SavedMixerFile(directory: folder.path).read() }

    @Test func aVoiceSetsTheMixerAndPutsItBack() {
        var session = session(card)
        #expect(session.take([Self.use], for: .voice) == ["The speaker of the sound card Board is now: Speaker."])
        #expect(
            card.shown == [
                "Speaker Playback Switch": 1, "Speaker Playback Volume": 50, "Headphone Playback Switch": 0,
                "Headphone Playback Volume": 7, "Mic Capture Switch": 1, "Mic Capture Volume": 10, "Headphone Jack": 0,
            ])
        #expect(session.giveBack() == [])
        #expect(card.shown == Self.before)
        #expect(saved == nil)
    }

    @Test func theNextVoiceSaysTheRouteOnlyWhereItChanged() {
        var session = session(card)
        _ = session.take([Self.use], for: .voice)
        _ = session.giveBack()
        #expect(session.take([Self.use], for: .voice) == [])
        _ = session.giveBack()
        card.plug("Headphone Jack", true)
        #expect(session.take([Self.use], for: .tone) == ["The speaker of the sound card Board is now: Headphone."])
    }

    @Test func theValuesToPutBackAreOnDiskBeforeTheFirstIsChanged() {
        var session = session(card)
        var savedAtChange: [SavedMixer?] = []
        card.onSet = { _ in savedAtChange.append(saved) }
        _ = session.take([Self.use], for: .voice)
        #expect(savedAtChange.count >= 4)
        #expect(savedAtChange.allSatisfy { $0?.values.count == 6 })
    }

    @Test func whereTheyCannotBeKeptNothingIsChanged() {
        var session = MixerSession(Self.settings, file: SavedMixerFile(directory: "\(folder.path)/missing")) {
            [card] (_: String) throws(ALSAError) -> TestMixer in card
        }
        let sentences = session.take([Self.use], for: .voice)
        #expect(sentences.count == 1)
        #expect(sentences.first?.contains("missing") == true)
        _ = session.giveBack()
        // The same again is no news.
        #expect(session.take([Self.use], for: .voice) == [])
        #expect(card.shown == Self.before)
    }

    @Test func aPluggedHeadphoneIsFollowedAndTheSpeakerGetsBackWhatItHad() {
        var session = session(card)
        _ = session.take([Self.use], for: .voice)
        card.plug("Headphone Jack", true)
        #expect(session.follow() == ["The speaker of the sound card Board is now: Headphone."])
        #expect(card.shown["Headphone Playback Switch"] == 1)
        #expect(card.shown["Headphone Playback Volume"] == 50)
        #expect(card.shown["Speaker Playback Switch"] == 0)
        #expect(card.shown["Speaker Playback Volume"] == 3)
        card.plug("Headphone Jack", false)
        #expect(session.follow() == ["The speaker of the sound card Board is now: Speaker."])
        #expect(session.follow() == [])
        _ = session.giveBack()
        var after = Self.before
        after["Headphone Jack"] = 0
        #expect(card.shown == after)
    }

    @Test func whatTheVisitorChangesDuringAVoiceIsNotFollowed() {
        var session = session(card)
        _ = session.take([Self.use], for: .voice)
        var sets = 0
        card.onSet = { _ in sets += 1 }
        #expect(session.follow() == [])
        #expect(sets == 0)
    }

    @Test func aCrashIsPutRightButForTheMicrophonesSwitch() {
        var crashed = session(card)
        _ = crashed.take([Self.use], for: .voice)
        var next = session(card)
        #expect(
            next.restoreAfterCrash() == [
                "The mixer of the sound card Board is put back as it was before the last voice."
            ])
        var expected = Self.before
        expected["Mic Capture Switch"] = 0
        #expect(card.shown == expected)
        // The next voice opens it, and puts back what stood there before the crash.
        _ = next.take([Self.use], for: .voice)
        #expect(card.shown["Mic Capture Switch"] == 1)
        _ = next.giveBack()
        #expect(card.shown == Self.before)
        #expect(saved == nil)
    }

    @Test func aSecondCrashLosesNothing() {
        for _ in 0..<3 {
            var crashed = session(card)
            _ = crashed.restoreAfterCrash()
            _ = crashed.take([Self.use], for: .voice)
        }
        var last = session(card)
        _ = last.take([Self.use], for: .voice)
        _ = last.giveBack()
        #expect(card.shown == Self.before)
    }

    @Test func aCardThatIsAwayAfterACrashIsPutRightLater() {
        var crashed = session(card)
        _ = crashed.take([Self.use], for: .voice)
        var without = session(nil)
        #expect(without.restoreAfterCrash().first?.hasPrefix("The mixer cannot be put back yet") == true)
        #expect(saved?.values.count == 6)
        var next = session(card)
        _ = next.restoreAfterCrash()
        #expect(card.shown["Speaker Playback Volume"] == 3)
    }

    @Test func withoutACrashNothingIsPutBack() {
        var session = session(card)
        #expect(session.restoreAfterCrash() == [])
        #expect(card.shown == Self.before)
    }

    @Test func afterACrashBetweenVoicesTheMicrophoneIsSwitchedOffUntilTheNext() {
        var other = session(card)
        #expect(other.muteAfterCrash([Self.use]) == [])
        var expected = Self.before
        expected["Mic Capture Switch"] = 0
        #expect(card.shown == expected)
        var next = session(card)
        _ = next.restoreAfterCrash()
        #expect(card.shown == expected)
        _ = next.take([Self.use], for: .voice)
        _ = next.giveBack()
        #expect(card.shown == Self.before)
    }

    @Test func afterACrashInAVoiceMutingLosesNothing() {
        var crashed = session(card)
        _ = crashed.take([Self.use], for: .voice)
        var other = session(card)
        _ = other.muteAfterCrash([Self.use])
        #expect(card.shown["Mic Capture Switch"] == 0)
        #expect(saved?.values.count == 6)
    }

    @Test func aToneTouchesNothingOfTheMicrophone() {
        var session = session(card)
        var set: [String] = []
        card.onSet = { set.append($0) }
        _ = session.take([Self.use], for: .tone)
        #expect(card.shown["Speaker Playback Volume"] == 50)
        _ = session.giveBack()
        #expect(card.shown == Self.before)
        #expect(set.allSatisfy { !$0.hasPrefix("Mic") })
    }

    /// A press's first tone has the mixer before its voice does.
    @Test func aVoiceThatFollowsUponAToneSetsTheMicrophoneToo() {
        var crashed = session(card)
        _ = crashed.take([Self.use], for: .voice)
        var next = session(card)
        _ = next.restoreAfterCrash()
        #expect(next.take([Self.use], for: .tone) == ["The speaker of the sound card Board is now: Speaker."])
        #expect(card.shown["Mic Capture Switch"] == 0)
        #expect(next.take([Self.use], for: .voice) == [])
        #expect(card.shown["Mic Capture Switch"] == 1)
        #expect(card.shown["Mic Capture Volume"] == 10)
        #expect(next.user == .voice)
        _ = next.giveBack()
        #expect(card.shown == Self.before)
        #expect(saved == nil)
    }

    @Test func aLookChangesNothing() {
        let session = session(card)
        var count = 0
        card.onSet = { _ in count += 1 }
        session.look(at: Self.use)
        #expect(count == 0)
        #expect(saved == nil)
    }

    @Test func aToneAfterACrashLeavesTheMicrophoneOffForTheNextVoice() {
        var crashed = session(card)
        _ = crashed.take([Self.use], for: .voice)
        var next = session(card)
        _ = next.restoreAfterCrash()
        _ = next.take([Self.use], for: .tone)
        #expect(card.shown["Mic Capture Switch"] == 0)
        _ = next.giveBack()
        #expect(card.shown["Mic Capture Switch"] == 0)
        _ = next.take([Self.use], for: .voice)
        #expect(card.shown["Mic Capture Switch"] == 1)
        _ = next.giveBack()
        #expect(card.shown == Self.before)
        #expect(saved == nil)
    }

    @Test func aCrashInAToneIsPutRightAndTheMicrophoneIsOff() {
        var crashed = session(card)
        _ = crashed.take([Self.use], for: .tone)
        var next = session(card)
        _ = next.restoreAfterCrash()
        var expected = Self.before
        expected["Mic Capture Switch"] = 0
        #expect(card.shown == expected)
    }

    @Test func aCardThatComesBackDuringAVoiceIsSetAnew() {
        let first = card
        let second = Self.card(["Mic Capture Switch": 0])
        var isBack = false
        var session = MixerSession(Self.settings, file: SavedMixerFile(directory: folder.path)) {
            (_: String) throws(ALSAError) -> TestMixer in isBack ? second : first
        }
        _ = session.take([Self.use], for: .voice)
        first.loss = Self.gone
        #expect(session.follow() == [])
        isBack = true
        _ = session.take([Self.use], for: .voice)
        #expect(second.shown["Mic Capture Switch"] == 1)
        #expect(second.shown["Mic Capture Volume"] == 10)
        // Held already: a second time nothing is done.
        var sets = 0
        second.onSet = { _ in sets += 1 }
        _ = session.take([Self.use], for: .voice)
        #expect(sets == 0)
    }

    @Test func aCardThatIsGoneDoesNotKeepAVoiceFromClosing() {
        var session = session(card)
        _ = session.take([Self.use], for: .voice)
        card.loss = Self.gone
        #expect(session.giveBack().count == 1)
        #expect(session.user == .nobody)
    }
}
