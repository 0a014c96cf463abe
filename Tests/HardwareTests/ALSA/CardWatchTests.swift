import Glibc
import Testing

@testable import Hardware

@Suite struct CardWatchTests {
    @Test func aCardThatComesOrGoesIsNewsForThreeSeconds() throws {
        let folder = try TestFolder()
        try folder.write("controlC0", "")
        var watch = CardWatch(directory: folder.path)
        #expect(watch.isUnsettled(at: .seconds(10)) == false)
        try folder.write("controlC31", "")
        // It looks once a second.
        #expect(watch.isUnsettled(at: .milliseconds(10_900)) == false)
        #expect(watch.isUnsettled(at: .seconds(11)) == true)
        #expect(watch.isUnsettled(at: .milliseconds(13_900)) == true)
        #expect(watch.isUnsettled(at: .seconds(14)) == false)
        unlink("\(folder.path)/controlC0")
        #expect(watch.isUnsettled(at: .seconds(15)) == true)
        #expect(watch.isUnsettled(at: .seconds(18)) == false)
    }

    @Test func aMachineWithoutSoundIsSettled() {
        var watch = CardWatch(directory: "/nowhere")
        #expect(watch.isUnsettled(at: .seconds(1)) == false)
    }
}
