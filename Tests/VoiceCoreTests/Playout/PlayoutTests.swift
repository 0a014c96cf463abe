import Testing

@testable import Support
@testable import VoiceCore

@Suite struct PlayoutTests: PlayoutBench {
    private static let speech = Sound.speechLike(sampleCount: 480_000)
    private static let packets =
        (try? Sound.encode(speech, settings: OpusEncoderSettings(expectedLossPercent: 0))) ?? []
    private static let packetsWithFEC =
        (try? Sound.encode(speech, settings: OpusEncoderSettings(expectedLossPercent: 20))) ?? []

    /// Joins packets of one frame each to one of several (RFC 6716 3.2.5, code 3, sizes of their own).
    private func joined(_ packets: ArraySlice<[UInt8]>) -> [UInt8] {
        let frames = packets.map { Array($0.dropFirst()) }
        let sizes = frames.dropLast().flatMap { frame -> [UInt8] in
            let count = frame.count
            return count < 252 ? [UInt8(count)] : [UInt8(252 + (count & 3)), UInt8((count - (252 + (count & 3))) / 4)]
        }
        return [packets[packets.startIndex][0] | 3, 0x80 | UInt8(frames.count)] + sizes + frames.joined()
    }

    // MARK: A line without fault

    @Test func aCleanLineIsWhatABareDecoderGives() throws {
        let heard = try play(stream(Self.packets), seconds: 10)
        let bare = try Sound.decode(Self.packets)
        #expect(heard.sound.count > 470_000)
        #expect(heard.sound.prefix(14_400).elementsEqual(bare.prefix(14_400)))
        // In the first pause the delay grows from that of the first packet to the one that is wanted; then nothing is touched.
        #expect(heard.lagOfTheEnd(in: bare) != nil)
        #expect(heard.count(.concealed) == 0)
        #expect(heard.statistics.receivedCount == 498)
        #expect(heard.statistics.lostCount == 0)
        #expect(heard.delays.allSatisfy { $0 < 17 })
        #expect(heard.statistics.meanWait >= .milliseconds(10) && heard.statistics.meanWait < .milliseconds(17))
    }

    @Test func theFirstPacketSoundsAtTheNextPull() throws {
        let heard = try play(stream(Self.packets), seconds: 1)
        #expect(heard.kinds.firstIndex(of: .decoded) == 5)  // arrived at 50 ms, pulled at 53
        #expect(heard.kinds[..<5].allSatisfy { $0 == .silence })
    }

    @Test func aSineStaysASineOnAJitteryLine() throws {
        // 160 samples a turn: a lag of up to 800 finds the phase whatever the delay.
        let tone = Sound.sine(hertz: 300, sampleCount: 240_000)
        let packets = try Sound.encode(tone, settings: OpusEncoderSettings(expectedLossPercent: 0))
        var entropy = Entropy.seeded(1)
        let heard = try play(
            stream(packets) { _ in Double.random(in: 0..<4, using: &entropy) }, seconds: 5)
        let (spoken, sounded) = (Array(tone[192_000..<206_000]), Array(heard.pcm[194_000..<209_000]))
        #expect(Sound.correlation(spoken, sounded, maximumLag: 800) > 0.99)
    }

    @Test(arguments: [2, 3, 6]) func longerPacketsArePlayedWhole(frameCount: Int) throws {
        // Packets of equal kind are needed to be joined: a tone of noise gives them.
        let packets = try Sound.encode(
            Sound.noise(sampleCount: 240_000, seed: 9), settings: OpusEncoderSettings(expectedLossPercent: 0))
        let usable = packets.prefix { $0[0] == packets[0][0] }
        #expect(usable.count > 100)
        let long = stride(from: 0, to: usable.count - frameCount, by: frameCount).map {
            joined(usable[$0..<$0 + frameCount])
        }
        let heard = try play(stream(long, sampleCount: 960 * frameCount), seconds: 3)
        #expect(
            heard.sound.starts(with: try Sound.decode(long).prefix(heard.sound.count)) || heard.count(.concealed) == 0)
        #expect(heard.sound.prefix(48_000).elementsEqual(try Sound.decode(long).prefix(48_000)))
        #expect(heard.statistics.lostCount == 0)
        #expect(heard.count(.concealed) == 0)
    }

    @Test func theShortestPacketsArePlayedWhole() throws {
        let silent = [UInt8](arrayLiteral: 0x80, 0xFF, 0xFE)  // CELT of 2.5 ms
        let heard = try play(stream(Array(repeating: silent, count: 1000), sampleCount: 120), seconds: 2.5)
        #expect(heard.count(.decoded) > 235)
        #expect(heard.count(.concealed) == 0)
    }

    // MARK: Loss

    @Test(arguments: [5, 10, 20]) func lossIsFilledAndTheDelayStays(percent: Int) throws {
        var entropy = Entropy.seeded(UInt64(percent))
        let arrivals = stream(Self.packets).filter { _ in Int(entropy.next() % 100) >= percent }
        let heard = try play(arrivals, seconds: 9.5)
        let lostShare = Double(heard.count(.concealed)) / Double(heard.kinds.count)
        #expect(abs(lostShare - Double(percent) / 100) < Double(percent) / 100 * 0.6)
        #expect(heard.delays.allSatisfy { $0 < 45 })
        let loss = heard.statistics.lostCount
        #expect(abs(loss - (475 - arrivals.count * 475 / 500)) <= 6)
    }

    @Test func fecFillsMostOfTheLossWhereItIsSent() throws {
        var entropy = Entropy.seeded(3)
        let arrivals = stream(Self.packetsWithFEC).filter { _ in entropy.next() % 10 != 0 }
        let heard = try play(arrivals, seconds: 9.5)
        // What can be had: a lost packet whose successor came and carries a copy. The first losses go to raising the delay.
        let came = Set(arrivals.map(\.sequenceNumber))
        let possible = (60..<470).filter { index in
            !came.contains(65_500 &+ UInt16(index)) && came.contains(65_501 &+ UInt16(index))
                && Sound.hasFEC(Self.packetsWithFEC[index + 1])
        }
        #expect(possible.count > 10)
        #expect(Double(heard.count(.fec)) >= 1.8 * Double(possible.count))
        #expect(heard.delays.suffix(500).allSatisfy { $0 < 60 })
    }

    @Test func aBurstFadesToSilenceAndTheSoundComesBack() throws {
        let lost = 100..<150  // one second
        let arrivals = stream(Self.packets).enumerated().filter { !lost.contains($0.offset) }.map(\.element)
        let heard = try play(arrivals, seconds: 5)
        let start = 205 + 2
        #expect(heard.kinds[start..<start + 17].allSatisfy { $0 == .concealed })
        #expect(heard.kinds[start + 22..<start + 95].allSatisfy { $0 == .silence })
        #expect(heard.pcm[(start + 22) * 480..<(start + 95) * 480].allSatisfy { $0 == 0 })
        #expect(heard.kinds[start + 105..<start + 200].allSatisfy { $0 == .decoded })
        #expect(heard.statistics.lostCount == 50)
        #expect(heard.delays.allSatisfy { $0 < 30 })
    }

    // MARK: Jitter and order

    @Test func jitterIsLearntAndThenCoveredWithABoundedDelay() throws {
        var entropy = Entropy.seeded(8)
        var last = 0.0
        let arrivals = stream(Self.packets) { index in
            // In order: nobody overtakes.
            let wish = Double.random(in: 0..<60, using: &entropy) + Double(index * 20)
            last = max(last, wish)
            return last - Double(index * 20)
        }
        let heard = try play(arrivals, seconds: 9.9)
        let later = heard.kinds.dropFirst(300)
        #expect(Double(later.filter { $0 == .concealed }.count) / Double(later.count) < 0.04)
        #expect(heard.delays.dropFirst(300).allSatisfy { $0 < 110 })
        #expect(heard.statistics.lostCount < 10)
    }

    @Test func reorderedPacketsArePutInOrder() throws {
        // Every fourth packet comes 30 ms late, after the one behind it.
        let arrivals = stream(Self.packets) { $0 % 4 == 3 ? 30 : 0 }
        let heard = try play(arrivals, seconds: 9.9)
        #expect(heard.kinds.dropFirst(100).allSatisfy { $0 == .decoded })
        #expect(heard.statistics.lostCount < 5)
        #expect(heard.delays.allSatisfy { $0 < 60 })
    }

    @Test func oneLatePacketDoesNotChangeTheDelay() throws {
        let arrivals = stream(Self.packets) { $0 == 200 ? 90 : 0 }
        let heard = try play(arrivals, seconds: 9.9)
        #expect(heard.statistics.lateCount == 1)
        #expect(heard.statistics.targetDelay <= .milliseconds(5))
        #expect(heard.delays.allSatisfy { $0 < 20 })
    }

    @Test func duplicatesAreHeardOnce() throws {
        let arrivals = stream(Self.packets)
        let heard = try play(
            arrivals
                + arrivals.map {
                    var twin = $0; twin.milliseconds += 1; return twin
                }, seconds: 9.9)
        let bare = try Sound.decode(Self.packets)
        #expect(heard.lagOfTheEnd(in: bare) != nil)
        #expect(heard.statistics.duplicateCount > 480)
        #expect(heard.statistics.lateCount == 0)
    }

    // MARK: Senders

    @Test func aSenderThatBeginsAnewIsHeardAtOnce() throws {
        let first = stream(Array(Self.packets[..<100]))
        for (ssrc, sequenceNumber, restarts) in [(UInt32(1), UInt16(20_000), 1), (2, 64, 1)] {
            let second = stream(
                Array(Self.packets[..<100]), sequenceNumber: sequenceNumber, timestamp: 77, ssrc: ssrc, at: 2000)
            let heard = try play(first + second, seconds: 4)
            #expect(heard.statistics.restartCount == restarts)
            #expect(heard.count(.decoded) > 385)
            #expect(heard.delays.allSatisfy { $0 < 40 })
        }
    }

    @Test func silenceThatWasNotSentIsNotLoss() throws {
        // The timestamps jump by half a second, the sequence goes on.
        var arrivals = stream(Array(Self.packets[..<100]))
        arrivals += stream(
            Array(Self.packets[100..<200]), sequenceNumber: 65_500 &+ 100, timestamp: 0xFFFF_0000 &+ 96_000 &+ 24_000,
            at: 2500)
        let heard = try play(arrivals, seconds: 4.5)
        #expect(heard.statistics.lostCount == 0)
        #expect(heard.count(.decoded) > 385)
        #expect(heard.delays.allSatisfy { $0 < 20 })
    }

    @Test(arguments: [true, false]) func aSenderThatPausedIsNotTakenForASlowNetwork(timestampsRunOn: Bool) throws {
        var arrivals = stream(Array(Self.packets[..<100]))
        for round in 1...3 {
            arrivals += stream(
                Array(Self.packets[..<100]), sequenceNumber: 65_500 &+ UInt16(100 * round),
                timestamp: 0xFFFF_0000 &+ UInt32(96_000 * round) &+ (timestampsRunOn ? UInt32(48_000 * 3 * round) : 0),
                at: Double(5000 * round))
        }
        let heard = try play(arrivals, seconds: 17)
        #expect(heard.statistics.lostCount == 0)
        #expect(heard.statistics.targetDelay <= .milliseconds(5))
        #expect(heard.count(.decoded) > 790)
        #expect(heard.delays.allSatisfy { $0 < 25 })
    }

    @Test func timestampsThatJumpWithoutTimePlayOn() throws {
        var arrivals = stream(Array(Self.packets[..<100]))
        arrivals += stream(
            Array(Self.packets[100..<200]), sequenceNumber: 65_500 &+ 100, timestamp: 1_000_000_000, at: 2000)
        let heard = try play(arrivals, seconds: 4)
        #expect(heard.count(.decoded) > 385)
        #expect(heard.delays.suffix(100).allSatisfy { $0 < 30 })
    }

    @Test func whatWasHeldUpIsHeardAndTheDelayComesDownInThePauses() throws {
        // The network stands still for 600 ms and then gives all at once.
        let arrivals = stream(Self.packets) { (100..<130).contains($0) ? Double(130 - $0) * 20 : 0 }
        let heard = try play(arrivals, seconds: 9.9)
        #expect(heard.statistics.lostCount == 0)
        let leftOut = heard.statistics.shortenedCount * 960 + heard.statistics.shortenings.sampleCount
        #expect(leftOut > 20 * 960)
        #expect(heard.delays.max() ?? 0 > 300)
        #expect(heard.delays.suffix(100).allSatisfy { $0 < 120 })
    }

    @Test func theDelayIsBoundedWhateverComes() throws {
        // Two seconds held up: more than the buffer holds, and no pause to leave out.
        let noise = try Sound.encode(
            Sound.noise(sampleCount: 480_000, seed: 2), settings: OpusEncoderSettings(expectedLossPercent: 0))
        let arrivals = stream(noise) { (100..<200).contains($0) ? Double(200 - $0) * 20 : 0 }
        let heard = try play(arrivals, seconds: 9.9)
        #expect(heard.statistics.overflowCount > 0)
        #expect(heard.delays.suffix(500).allSatisfy { $0 < 1000 })
        #expect(heard.delays.last ?? 0 < 600)
    }

    @Test(arguments: [(Playout.Patience.long, 0, 0...2), (.short, 1, 100...400)])
    func whatComesAtTwiceItsSpeedIsHeardWholeByWhoIsPatient(
        patience: Playout.Patience, leastLeftOut: Int, missingFrames: ClosedRange<Int>
    ) throws {
        // 4 s that were kept while connecting, without a pause that could be left out.
        let packets = try Sound.encode(Sound.sine(hertz: 300, sampleCount: 192_000), settings: OpusEncoderSettings())
        let heard = try play(stream(packets) { -10 * Double($0) }, seconds: 5, patience: patience)
        #expect(heard.statistics.shortenedCount >= leastLeftOut)
        #expect(missingFrames.contains(2 * packets.count - heard.count(.decoded)))
    }

    // MARK: Flush and bad input

    @Test func aFlushIsSilentWithinAFrameAndWhatComesThenPlays() throws {
        let arrivals = stream(Self.packets) { $0 < 100 ? 0 : 200 }
        let heard = try play(arrivals, seconds: 5, flushAt: 1500)
        let index = 150
        #expect(heard.kinds[index + 1] == .silence || heard.kinds[index + 1] == .decoded)
        #expect(heard.kinds[index + 8..<index + 40].allSatisfy { $0 == .decoded })
        #expect(abs(Int(heard.pcm[(index + 1) * 480 - 1])) < 200)
    }

    @Test func hostilePayloadsAreCountedAndConcealed() throws {
        var entropy = Entropy.seeded(5)
        let arrivals = stream(Self.packets).map { packet in
            var packet = packet
            if entropy.next() % 2 == 0 { packet.payload = packet.payload.mutated(by: &entropy) }
            if entropy.next() % 20 == 0 { packet.payload = entropy.bytes(1501) }
            if entropy.next() % 20 == 0 { packet.sequenceNumber = UInt16(truncatingIfNeeded: entropy.next()) }
            if entropy.next() % 20 == 0 { packet.timestamp = UInt32(truncatingIfNeeded: entropy.next()) }
            if entropy.next() % 50 == 0 { packet.ssrc = 2 }
            return packet
        }
        let heard = try play(arrivals, seconds: 10)
        #expect(heard.statistics.malformedCount > 20)
        #expect(heard.kinds.count == 1000)
        #expect(heard.count(.decoded) > 200)
    }
}
