import Glibc
import Testing

@testable import Hardware

@Suite struct SoundCardsTests {
    private static let cards = SoundCards([
        card(0, "vc4hdmi", .screen, [(0, .playback)]),
        card(1, "Board", .builtIn, [(0, .playback), (0, .capture), (2, .capture)]),
        card(2, "Phone", .usb, [(0, .playback)]),
    ])

    private static func card(
        _ number: Int, _ id: String, _ kind: SoundCards.Kind, _ devices: [(Int, SoundDirection)]
    ) -> SoundCards.Card {
        SoundCards.Card(
            number: number, id: id, kind: kind,
            devices: devices.map { SoundCards.Device(number: $0.0, direction: $0.1) })
    }

    @Test(arguments: [
        // The only microphone is built in; the speaker that somebody plugged in comes first.
        ("auto", SoundDirection.capture, "hw:CARD=Board,DEV=0"),
        ("auto", .playback, "hw:CARD=Phone,DEV=0"),
        ("vc4hdmi", .playback, "hw:CARD=vc4hdmi,DEV=0"),
        ("Board", .capture, "hw:CARD=Board,DEV=0"),
        ("Board,2", .capture, "hw:CARD=Board,DEV=2"),
        ("Board,0,3", .playback, "hw:CARD=Board,DEV=0,SUBDEV=3"),
    ])
    func aNameLeadsToADevice(name: String, direction: SoundDirection, pcm: String) throws {
        let place = try Self.cards.place(of: #require(CardName(name)), for: direction)
        #expect(place.pcmName == pcm)
    }

    @Test(arguments: [
        ("Other", SoundDirection.capture, "there is no sound card Other (there are: vc4hdmi, Board, Phone)"),
        ("Phone", .capture, "the sound card Phone has no microphone"),
        ("Board,1", .capture, "the sound card Board has a microphone only as device 0, 2"),
    ])
    func whatIsNotThereIsSaidWithWhatThereIs(name: String, direction: SoundDirection, what: String) throws {
        let name = try #require(CardName(name))
        let error = thrown { () throws(ALSAError) in _ = try Self.cards.place(of: name, for: direction) }
        #expect(error?.reason == .absent)
        #expect(error?.what == what)
    }

    @Test func withoutAnyCardTheSentenceSaysSo() {
        let error = thrown { () throws(ALSAError) in _ = try SoundCards([]).place(of: .auto, for: .playback) }
        #expect(error?.description == "there is no sound card with a speaker (there is none at all); plug one in.")
    }

    @Test func theKernelsFoldersAreRead() throws {
        let folder = try TestFolder()
        try folder.write("bus/usb/x", "")
        for (card, id) in [(0, "Board"), (10, "Phone")] { try folder.write("class/card\(card)/id", "\(id)\n") }
        try folder.write("class/card10/device/x", "")
        symlink("\(folder.path)/bus/usb", "\(folder.path)/class/card10/device/subsystem")
        let devices = ["pcmC0D0p", "pcmC0D1c", "pcmC10D0p", "pcmC1D0p", "controlC0", "timer", "pcmC0D0x", "pcmC0Dp"]
        for name in devices { try folder.write("class/\(name)", "") }
        let cards = SoundCards.present(in: "\(folder.path)/class")
        #expect(
            cards
                == SoundCards([
                    Self.card(0, "Board", .builtIn, [(0, .playback), (1, .capture)]),
                    Self.card(10, "Phone", .usb, [(0, .playback)]),
                ]))
    }

    @Test func aMachineWithoutSoundHasNoCards() {
        #expect(SoundCards.present(in: "/nowhere").ids.isEmpty)
    }
}
