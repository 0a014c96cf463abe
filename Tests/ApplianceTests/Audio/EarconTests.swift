import Glibc
import Testing

@testable import Appliance

@Suite struct EarconTests {
    @Test(arguments: Earcon.allCases)
    func eachBeginsAndEndsInSilenceAndNeverClips(earcon: Earcon) {
        let samples = EarconSynthesis.samples(of: earcon)
        #expect(samples.first == 0 && samples.last == 0)
        #expect(samples.allSatisfy { abs(Int($0)) < 30_000 })
        #expect(samples.contains { abs(Int($0)) > 20_000 })
        // The steepest that a sine of 1320 Hz gets.
        #expect(zip(samples, samples.dropFirst()).allSatisfy { abs(Int($1) - Int($0)) < 5_200 })
    }

    @Test func theyAreShort() {
        for earcon in Earcon.allCases {
            let milliseconds = EarconSynthesis.samples(of: earcon).count / 48
            if case .fault = earcon { #expect(milliseconds < 3_000) } else { #expect(milliseconds <= 400) }
        }
    }

    @Test func noTwoAreAlike() {
        let all = Earcon.allCases.map(EarconSynthesis.samples(of:))
        #expect(Set(all).count == all.count)
        #expect(Set(Earcon.allCases.map(\.name)).count == all.count)
    }

    @Test func aFaultBeepsAsOftenAsTheLEDFlicks() {
        for fault in Fault.allCases {
            let samples = EarconSynthesis.samples(of: .fault(fault))
            // Sound is where 10 ms are not all zeros; the hum comes first.
            let isLoud = stride(from: 0, to: samples.count - 480, by: 480).map { start in
                samples[start..<start + 480].contains { abs(Int($0)) > 1000 }
            }
            let sounds = isLoud.split(separator: false).count
            #expect(sounds == fault.code.place + fault.code.detail + 1)
        }
    }

    // MARK: What the config chooses

    @Test func theVolumeIsInPercentOfFullScale() {
        for volume in [0, 10, 100] {
            let earcons = Earcons(Configuration.Tones(volume: volume)) { _ in }
            let peak = earcons.samples.map { abs(Int($0)) }.max() ?? 0
            #expect(abs(peak - 32_767 * 9 / 10 * volume / 100) <= 330)
        }
    }

    @Test func theEarconsShareTheirNotes() {
        let earcons = Earcons(Configuration.Tones()) { _ in }
        #expect(earcons.samples.count < 2 * 48_000)
        for earcon in Earcon.allCases {
            let sound = earcons.place(of: earcon).map { $0.flatMap { earcons.samples[$0] } }
            #expect(sound == EarconSynthesis.samples(of: earcon).map { $0 / 2 })
        }
    }

    @Test func noneIsSilent() throws {
        let earcons = Earcons(Configuration.Tones(earcons: .none)) { _ in }
        #expect(earcons.samples.isEmpty)
        #expect(earcons.place(of: .open) == nil)
    }

    @Test func filesOfADirectoryTakeThePlaceOfTonesAndWhatIsMissingIsSaid() throws {
        let folder = WAVDeviceTests.Folder()
        defer { unlink("\(folder.path)/open.wav") }
        let bytes = WAVAudioTests.file([100, 200, 300])
        let file = try #require(fopen("\(folder.path)/open.wav", "w"))
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
        var problems: [String] = []
        let tones = Configuration.Tones(
            earcons: .directory(folder.path), notice: "\(folder.path)/none.wav", volume: 50)
        let earcons = Earcons(tones) { problems.append($0) }
        let open = try #require(earcons.place(of: .open))
        #expect(open.flatMap { earcons.samples[$0] } == [50, 100, 150])
        let shut = try #require(earcons.place(of: .shut))
        #expect(shut.flatMap { earcons.samples[$0] } == EarconSynthesis.samples(of: .shut).map { $0 / 2 })
        #expect(problems.count == Earcon.allCases.count)
        #expect(problems.contains { $0.contains("shut.wav") && $0.contains("Its tone sounds in its place.") })
        #expect(problems.last?.contains("[tones] notice") == true)
        #expect(earcons.notice == nil)
    }
}
