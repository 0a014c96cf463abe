/// Opus packets in, 10 ms of sound out whenever the sound card asks: jitter buffer, decoder, FEC of the next packet, concealment.
///
/// The playback thread owns it. It reads no clock: the card's pull is its clock, and each call says when it is. It never allocates
/// after its init, and no packet makes it trap.
///
/// The first packet plays at once. From then on sound plays at its timestamp plus the delay that the arrivals ask for: where sound
/// is due and nothing is there, it invents, fading to silence within 200 ms, and goes on once the next packet is due. A delay that is
/// too large is brought down by leaving out pauses, and is never more than half a second above what it should be, unless it is told to be patient.
/// Left out for now: stretching of time, comfort noise, and the estimate of drift.
struct Playout: ~Copyable {
    private enum Phase {
        /// No packet came yet: the first one plays at once.
        case fresh
        /// Sound was due and not there, or was flushed, or the stream begins anew: the next packet waits for its due time.
        case waiting
        case playing
    }

    /// Above the target by this much, pauses are left out: 40 ms.
    private static let shorteningExcess: Int64 = 1920
    /// What becomes of sound that comes faster than it plays.
    enum Patience {
        /// More than 500 ms of it is left out: whoever listens wants to answer.
        case short
        /// It is kept, 10 s at most: whoever listens wants to have heard all of it.
        case long

        fileprivate var slotCount: Int { self == .short ? 64 : 512 }
        fileprivate var excessLimit: Int64 { self == .short ? 24_000 : 480_000 }
    }

    /// Packets left out in one pull, so that it takes no longer than a few decodings.
    private static let shorteningLimit = 4
    /// How much of the loss is remembered: a share of 1/e after 128 packets.
    private static let lossForgetting: Float = 1.0 / 128

    private let patience: Patience
    private var buffer: JitterBuffer
    private var estimate = DelayEstimate()
    private var decoder: OpusDecoder
    private var queue = PCMQueue(
        capacity: AudioFormat.longestPacketSampleCount + AudioFormat.packetSampleCount)
    private var phase = Phase.fresh
    private var ssrc: UInt32?
    /// The timestamp of the next sample to be decoded, without wraps.
    private var position: Int64 = 0
    /// The packet after the last one that was played, without wraps; nil where none can be missing.
    private var expectedSequence: Int64?
    /// What the sound queued last is.
    private var kind = PlayoutKind.silence
    private var fade = Fade()
    private var endsNow = false
    /// The share of packets lost lately, and since when none carried FEC.
    private var lossShare: Float = 0
    private var packetsSinceFEC = Int.max
    private var lastSampleCount = AudioFormat.packetSampleCount
    private var counts = PlayoutStatistics()

    /// - Throws: libopus has no memory for a decoder.
    init(patience: Patience = .short) throws(OpusError) {
        self.init(decoder: try OpusDecoder(), patience: patience)
    }

    private init(decoder: consuming OpusDecoder, patience: Patience) {
        self.decoder = decoder
        self.patience = patience
        buffer = JitterBuffer(slotCount: patience.slotCount)
    }

    /// Takes one packet in.
    /// - Parameters:
    ///   - payload: of an RTP packet of the negotiated Opus payload type; copied.
    ///   - ssrc: another one than before begins a new stream.
    ///   - arrivedAt: when the datagram came from the network.
    mutating func insert(
        payload: UnsafeRawBufferPointer, ssrc: UInt32, sequenceNumber: UInt16, timestamp: UInt32, arrivedAt: Instant
    ) {
        counts.receivedCount += 1
        guard let packet = OpusPacket(payload) else {
            counts.malformedCount += 1
            return
        }
        if self.ssrc != ssrc {
            if self.ssrc != nil {
                buffer.forgetSequence()
                restart()
            }
            self.ssrc = ssrc
        }
        let (insertion, entry) = buffer.insert(packet, sequenceNumber: sequenceNumber, timestamp: timestamp)
        switch insertion {
        case .stored: break
        case .storedDropping(let count): counts.overflowCount += count
        case .restarted: restart()
        case .late: counts.lateCount += 1
        case .duplicate:
            counts.duplicateCount += 1
            return
        case .tooLarge:
            counts.malformedCount += 1
            return
        }
        estimate.record(timestamp: entry.timestamp, arrival: arrivedAt.sampleCount)
        packetsSinceFEC = packet.hasFEC ? 0 : packetsSinceFEC &+ (packetsSinceFEC == .max ? 0 : 1)
        lastSampleCount = packet.sampleCount
    }

    /// The next 10 ms.
    /// - Parameters:
    ///   - frame: 480 samples, mono, 48 kHz, Int16; always filled.
    ///   - now: when it is asked for.
    mutating func next(into frame: UnsafeMutableBufferPointer<Int16>, at now: Instant) -> PlayoutKind {
        precondition(frame.count == AudioFormat.frameSampleCount)
        var shortenings = 0
        while queue.count < frame.count {
            produce(shortenings: &shortenings, at: now.sampleCount)
        }
        if phase == .playing { counts.delay = Duration(sampleCount: delay(at: now.sampleCount)) }
        queue.take(into: frame)
        fade.shape(frame, kind, endsNow: endsNow)
        if endsNow {
            endsNow = false
            queue.removeAll()
        }
        count(kind)
        return kind
    }

    /// Forgets all sound that waits, within 10 ms and without a click; what comes from now on plays.
    mutating func flush() {
        buffer.removeAll()
        expectedSequence = nil
        if phase == .playing { phase = .waiting }
        endsNow = true
    }

    /// What was done so far, and the delay as it was at the last frame of sound.
    var statistics: PlayoutStatistics {
        var statistics = counts
        statistics.targetDelay = Duration(sampleCount: target)
        statistics.bufferedCount = buffer.count
        return statistics
    }
}

// MARK: - What comes next

extension Playout {
    /// The delay asked for: that of the arrivals, and where packets are lost and carry FEC, one packet more, so that the next is there.
    private var target: Int64 {
        let usesFEC = lossShare > 0.01 && packetsSinceFEC < 100
        let wish = estimate.target + Int64(usesFEC ? lastSampleCount : 0)
        return min(wish, Int64(buffer.slotCount * lastSampleCount) * 3 / 4)
    }

    /// How much later the next sample plays than its fastest possible arrival.
    private func delay(at now: Int64) -> Int64 {
        now &- estimate.base &- (position &- Int64(queue.count))
    }

    /// Puts at least one unit of sound into the queue, or leaves one out.
    private mutating func produce(shortenings: inout Int, at now: Int64) {
        guard !endsNow, let next = buffer.first() else {
            if phase == .playing {
                phase = .waiting
                counts.underrunCount += 1
            }
            invent(sampleCount: AudioFormat.frameSampleCount)
            return
        }
        switch phase {
        case .fresh:
            phase = .playing
            play(next, skips: false)
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
            phase = .playing
            noteLost(before: next)
            play(next, skips: false)
        } else if hasCopy, (0..<Int64(AudioFormat.frameSampleCount)).contains(lateness + copied) {
            phase = .playing
            recover(from: next, sampleCount: Int(copied))
        } else {
            invent(sampleCount: AudioFormat.frameSampleCount)
        }
    }

    /// Sound is going on and a packet waits: it, or what is missing before it.
    private mutating func advance(to next: JitterBuffer.Entry, shortenings: inout Int, at now: Int64) {
        let excess = delay(at: now) - target
        let lost = lostCount(before: next)
        let gap = next.timestamp &- position
        if gap < Int64(AudioFormat.shortestSampleCount) {
            noteLost(before: next)
            let mayShorten = excess > Self.shorteningExcess && shortenings < Self.shorteningLimit
            if mayShorten { shortenings += 1 }
            play(next, skips: mayShorten, regardless: excess > patience.excessLimit)
        } else if now &- estimate.base &- next.timestamp >= target + (lost > 0 ? Self.shorteningExcess : 0) {
            // Its sound is due: whatever is left of the pause that the sender made is left out, and so is what was lost where
            // the delay is too large.
            noteLost(before: next)
            play(next, skips: false)
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

    /// Another stream begins: nothing learnt of the old one's time line holds.
    private mutating func restart() {
        counts.restartCount += 1
        estimate.forgetTimeLine()
        decoder.reset()
        expectedSequence = nil
        if phase == .playing { phase = .waiting }
    }

    private func lostCount(before next: JitterBuffer.Entry) -> Int {
        expectedSequence.map { max(0, Int(next.sequence - $0)) } ?? 0
    }

    private mutating func noteLost(before next: JitterBuffer.Entry) {
        let lost = lostCount(before: next)
        counts.lostCount += lost
        for _ in 0..<min(lost, buffer.slotCount) { lossShare += (1 - lossShare) * Self.lossForgetting }
        lossShare -= lossShare * Self.lossForgetting
    }
}

// MARK: - Sound

extension Playout {
    /// Decodes a packet and takes it out of the buffer.
    /// - Parameters:
    ///   - skips: leaves its sound out where it is a pause.
    ///   - regardless: leaves it out whatever it is.
    private mutating func play(_ entry: JitterBuffer.Entry, skips: Bool, regardless: Bool = false) {
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
        if skips, regardless || Level.meanSquare(of: sound) < Level.silenceMeanSquare {
            counts.shortenedCount += 1
        } else {
            queue.append(sampleCount: sampleCount)
        }
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
        position = next.timestamp
    }

    /// Continues the sound before; silence where that has gone on for too long.
    private mutating func invent(sampleCount: Int) {
        let room = queue.room()
        if fade.isSilent {
            kind = .silence
            for index in 0..<sampleCount { room[index] = 0 }
        } else {
            kind = .concealed
            fill(room, sampleCount: sampleCount)
        }
        queue.append(sampleCount: sampleCount)
    }

    private mutating func fill(_ room: UnsafeMutableBufferPointer<Int16>, sampleCount: Int) {
        guard (try? decoder.conceal(sampleCount: sampleCount, into: room)) != nil else {
            for index in 0..<sampleCount { room[index] = 0 }
            return
        }
    }

    private mutating func count(_ kind: PlayoutKind) {
        switch kind {
        case .decoded: counts.decodedFrameCount += 1
        case .fec: counts.fecFrameCount += 1
        case .concealed: counts.concealedFrameCount += 1
        case .silence: counts.silentFrameCount += 1
        }
    }
}
