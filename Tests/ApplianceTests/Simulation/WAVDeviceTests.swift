import Glibc
import Testing
import VoiceCore

@testable import Appliance

@Suite struct WAVDeviceTests {
    /// A folder that goes with the test.
    final class Folder {
        let path: String

        init() {
            var template = Array("/tmp/talkpost-test-XXXXXX".utf8CString)
            path = mkdtemp(&template).map { String(cString: $0) } ?? ""
        }

        deinit {
            for name in ["in.wav", "out.wav", "out-1.wav", "out-2.wav"] { unlink("\(path)/\(name)") }
            rmdir(path)
        }

        func write(_ bytes: [UInt8], to name: String) throws {
            let file = try #require(fopen("\(path)/\(name)", "w"))
            fwrite(bytes, 1, bytes.count, file)
            fclose(file)
        }
    }

    private func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "w") else { return }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }

    @Test func theMicrophoneSpeaksItsFileFromTheBeginningInEachVoice() throws {
        let folder = Folder()
        write(WAVAudioTests.file((1...700).map(Int16.init)), to: "\(folder.path)/in.wav")
        let device = WAVDevice(microphone: "\(folder.path)/in.wav", speaker: nil)
        for _ in 0..<2 {
            let capture = try device.openCapture()
            var frame = [Int16](repeating: 9, count: 480)
            var heard: [Int16] = []
            var instants: [Instant] = []
            for _ in 0..<3 {
                let instant = try frame.withUnsafeMutableBufferPointer { try capture.read(into: $0) }
                instants.append(try #require(instant))
                heard += frame
            }
            #expect(heard == (1...700).map(Int16.init) + [Int16](repeating: 0, count: 740))
            #expect(instants[1] - instants[0] == .milliseconds(10))
            #expect(instants[2] - instants[1] == .milliseconds(10))
            #expect(Instant.now() >= instants[2])
        }
    }

    @Test func aMicrophoneWithoutItsFileIsAbsentUntilItIsThere() throws {
        let folder = Folder()
        let device = WAVDevice(microphone: "\(folder.path)/in.wav", speaker: nil)
        let error = try #require(thrown(AudioDeviceError.self) { _ = try device.openCapture() })
        #expect(error.reason == .absent)
        #expect(error.description.contains("in.wav"))
        write(WAVAudioTests.file([1]), to: "\(folder.path)/in.wav")
        _ = try device.openCapture()
    }

    @Test func theSpeakerWritesAFileOfItsOwnForEachVoice() throws {
        let folder = Folder()
        let device = WAVDevice(microphone: "none", speaker: "\(folder.path)/out-{call}.wav")
        for call in 1...2 {
            let playback = try device.openPlayback()
            var frame = [Int16](repeating: Int16(call), count: 480)
            for _ in 0..<3 { _ = try frame.withUnsafeMutableBufferPointer { try playback.write($0) } }
        }
        for call in 1...2 {
            let audio = try WAVAudio(file: "\(folder.path)/out-\(call).wav")
            #expect(audio.samples == [Int16](repeating: Int16(call), count: 1440))
        }
    }

    @Test func theFileCanBeReadWhileItIsStillWritten() throws {
        let folder = Folder()
        let path = "\(folder.path)/out.wav"
        let writer = try WAVWriter(path: path)
        let frame = [Int16](repeating: 5, count: 480)
        for _ in 0..<25 { frame.withUnsafeBufferPointer { writer.append($0) } }
        // What the header counts is at most 100 ms behind.
        #expect(try WAVAudio(file: path).samples.count == 20 * 480)
        withExtendedLifetime(writer) {}
    }

    @Test func whatWasLeftOutIsSilence() throws {
        let folder = Folder()
        let path = "\(folder.path)/out.wav"
        do {
            let writer = try WAVWriter(path: path)
            writer.skip(sampleCount: 3)
            [Int16(7)].withUnsafeBufferPointer { writer.append($0) }
        }
        #expect(try WAVAudio(file: path).samples == [0, 0, 0, 7])
    }

    @Test func aClockThatWasStoppedLeavesOutWhatItMissed() {
        var clock = FrameClock(start: Instant.now() - .seconds(5))
        let (due, missedFrames) = clock.wait()
        #expect(missedFrames >= 500)
        #expect(due <= Instant.now())
    }
}
