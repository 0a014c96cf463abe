/// What comes next: a packet, a copy, what is left out, or an invention.
extension Playout {
    /// - Parameter wanted: how many samples the next frame is to be made of; one more than it holds only where a packet waits for its turn.
    mutating func fillQueue(_ wanted: Int, at now: Int64) {
        var shortenings = 0
        while queue.count < min(wanted, AudioFormat.frameSampleCount) { produce(shortenings: &shortenings, at: now) }
        guard queue.count < wanted, phase == .playing, let next = buffer.first(), next.timestamp == position else {
            return
        }
        produce(shortenings: &shortenings, at: now)
    }

    /// Puts at least one unit of sound into the queue, or leaves one out.
    private mutating func produce(shortenings: inout Int, at now: Int64) {
        guard !endsNow, let next = buffer.first() else {
            if phase == .playing {
                phase = .waiting
                if !describesRoom { counts.underrunCount += 1 }
            }
            invent(sampleCount: AudioFormat.frameSampleCount)
            return
        }
        switch phase {
        case .fresh:
            phase = .playing
            play(next, skips: false, at: now)
        case .waiting:
            resume(with: next, at: now)
        case .playing:
            advance(to: next, shortenings: &shortenings, at: now)
        }
    }

    /// Nothing was there for a while and now a packet waits: it plays when it is due, the copy it carries as long before.
    private mutating func resume(with next: JitterBuffer.Entry, at now: Int64) {
        let lateness = now &- estimate.base &- next.timestamp &- target
        let copied = Int64(next.packet.frameSampleCount)
        let hasCopy = lostCount(before: next) > 0 && next.timestamp &- position >= copied && next.packet.hasFEC
        if lateness >= 0 || buffer.count > buffer.slotCount / 2 {
            begin()
            noteLost(before: next)
            play(next, skips: false, at: now)
        } else if hasCopy, (0..<Int64(AudioFormat.frameSampleCount)).contains(lateness + copied) {
            begin()
            recover(from: next, sampleCount: Int(copied))
        } else {
            invent(sampleCount: AudioFormat.frameSampleCount)
        }
    }

    private mutating func begin() {
        phase = .playing
        control.forget()
    }

    /// Sound is going on and a packet waits: it, or what is missing before it.
    private mutating func advance(to next: JitterBuffer.Entry, shortenings: inout Int, at now: Int64) {
        let excess = delay(at: now) - target
        let lost = lostCount(before: next)
        let gap = next.timestamp &- position
        if gap < Int64(AudioFormat.shortestSampleCount) {
            noteLost(before: next)
            let above = delay(at: now) - DelayControl.band(of: target).upperBound
            let mayShorten = above > Self.shorteningExcess && shortenings < Self.shorteningLimit
            if mayShorten { shortenings += 1 }
            play(next, skips: mayShorten, regardless: above > patience.excessLimit, at: now)
        } else if now &- estimate.base &- next.timestamp >= target + (lost > 0 ? Self.shorteningExcess : 0) {
            // Its sound is due: whatever is left of the pause that the sender made is left out, and so is what was lost where
            // the delay is too large.
            noteLost(before: next)
            play(next, skips: false, at: now)
        } else if lost > 0, excess <= -Int64(AudioFormat.frameSampleCount) {
            // What is missing may still come, and the delay has to grow anyway.
            invent(sampleCount: AudioFormat.frameSampleCount)
        } else if lost > 0, gap <= Int64(next.packet.frameSampleCount), next.packet.hasFEC {
            recover(from: next, sampleCount: Int(gap))
        } else {
            var step = min(gap, Int64(AudioFormat.packetSampleCount))
            let copied = Int64(next.packet.frameSampleCount)
            if lost > 0, next.packet.hasFEC, gap > copied { step = min(step, gap - copied) }
            let sampleCount = Int(step) / AudioFormat.shortestSampleCount * AudioFormat.shortestSampleCount
            position &+= Int64(max(sampleCount, AudioFormat.shortestSampleCount))
            invent(sampleCount: max(sampleCount, AudioFormat.shortestSampleCount))
        }
    }

    private func lostCount(before next: JitterBuffer.Entry) -> Int {
        expectedSequence.map { max(0, Int(next.sequence - $0)) } ?? 0
    }

    private mutating func noteLost(before next: JitterBuffer.Entry) {
        let lost = lostCount(before: next)
        counts.lostCount += lost
        for _ in 0..<min(lost, buffer.slotCount) { lossShare += (1 - lossShare) * Self.lossForgetting }
        lossShare -= lossShare * Self.lossForgetting
        let bound = waitsForCopies ? Self.copyShares.until : Self.copyShares.from
        waitsForCopies = lossShare > bound && packetsSinceFEC < 100
    }
}

// MARK: - Sound

extension Playout {
    /// Decodes a packet and takes it out of the buffer.
    /// - Parameters:
    ///   - skips: leaves its sound out where it is a pause.
    ///   - regardless: leaves it out whatever it is.
    private mutating func play(_ entry: JitterBuffer.Entry, skips: Bool, regardless: Bool = false, at now: Int64) {
        let room = queue.room()
        var sampleCount = entry.packet.sampleCount
        kind = .decoded
        do {
            sampleCount = try decoder.decode(entry.packet, into: room)
        } catch {
            counts.malformedCount += 1
            kind = .concealed
            sampleCount = min(sampleCount, AudioFormat.longestPacketSampleCount)
            fill(room, sampleCount: sampleCount)
        }
        position = entry.timestamp &+ Int64(sampleCount)
        expectedSequence = entry.sequence + 1
        buffer.remove(entry)
        let sound = UnsafeBufferPointer(rebasing: room[..<sampleCount])
        let isQuiet = Level.meanSquare(of: sound) < Level.silenceMeanSquare
        describesRoom = entry.packet.describesRoom
        senderNoiseFrames = 0
        if describesRoom { noise.forget() } else { noise.learn(from: sound, isQuiet: isQuiet) }
        if skips, regardless || isQuiet {
            counts.shortenedCount += 1
            control.noteStretch(-sampleCount)
        } else {
            counts.waited &+= Int(clamping: now &+ Int64(queue.count) &- entry.arrival)
            counts.waitedCount += 1
            queue.append(sampleCount: sampleCount)
            setRight(isPause: isQuiet && wasQuiet)
        }
        wasQuiet = isQuiet
    }

    /// The lost sound right before a packet, from the copy in it.
    private mutating func recover(from next: JitterBuffer.Entry, sampleCount gap: Int) {
        let room = queue.room()
        let sampleCount = gap / AudioFormat.shortestSampleCount * AudioFormat.shortestSampleCount
        kind = .fec
        do {
            queue.append(sampleCount: try decoder.decodeFEC(of: next.packet, sampleCount: sampleCount, into: room))
        } catch {
            counts.malformedCount += 1
            kind = .concealed
            fill(room, sampleCount: sampleCount)
            queue.append(sampleCount: sampleCount)
        }
        wasQuiet = false
        position = next.timestamp
    }

    /// Continues the sound before; silence where that has gone on for too long, and the sender's room where it was described.
    private mutating func invent(sampleCount: Int) {
        let room = queue.room()
        if describesRoom, senderNoiseFrames < Self.senderNoiseFrameCount {
            senderNoiseFrames += 1
            kind = .comfortNoise
            fill(room, sampleCount: sampleCount)
        } else if fade.isSilent {
            kind = .silence
            room[..<sampleCount].update(repeating: 0)
        } else {
            kind = .concealed
            fill(room, sampleCount: sampleCount)
        }
        wasQuiet = false
        queue.append(sampleCount: sampleCount)
    }

    private mutating func fill(_ room: UnsafeMutableBufferPointer<Int16>, sampleCount: Int) {
        guard (try? decoder.conceal(sampleCount: sampleCount, into: room)) == nil else { return }
        room[..<sampleCount].update(repeating: 0)
    }

    mutating func count(_ kind: PlayoutKind) {
        switch kind {
        case .decoded: counts.decodedFrameCount += 1
        case .fec: counts.fecFrameCount += 1
        case .concealed: counts.concealedFrameCount += 1
        case .comfortNoise: counts.comfortNoiseFrameCount += 1
        case .silence: counts.silentFrameCount += 1
        }
    }
}
