/// Opus packets in, 10 ms of sound out whenever the sound card asks: jitter buffer, decoder, FEC of the next packet, concealment, and
/// what brings the delay to where it should be.
///
/// The playback thread owns it. It reads no clock: the card's pull is its clock, and each call says when it is. It never allocates
/// after its init, and no packet makes it trap.
///
/// The first packet plays at once. From then on sound plays at its timestamp plus the delay that the arrivals ask for: where sound
/// is due and nothing is there, it invents, fading within 200 ms to the room of whoever speaks, and goes on once the next packet is due.
/// The delay is set right in pauses first (`DelayControl`), and is never more than half a second above what it should be, unless it is
/// told to be patient. Left out: playing a packet that comes after its turn was filled.
struct Playout: ~Copyable {
    enum Phase {
        /// No packet came yet: the first one plays at once.
        case fresh
        /// Sound was due and not there, or was flushed, or the stream begins anew: the next packet waits for its due time.
        case waiting
        case playing
    }

    /// What becomes of sound that comes faster than it plays.
    enum Patience {
        /// It is played faster, and what is more than 500 ms of it is left out: whoever listens wants to answer.
        case short
        /// It is kept, 10 s at most: whoever listens wants to have heard all of it, as it was.
        case long

        var slotCount: Int { self == .short ? 64 : 512 }
        var excessLimit: Int64 { self == .short ? 24_000 : 480_000 }
    }

    /// Above what it should be by this much, packets that hold a pause are left out whole: 25 ms.
    static let shorteningExcess: Int64 = 1200
    /// Packets left out in one pull, so that it takes no longer than a few decodings.
    static let shorteningLimit = 4
    /// How much of the loss is remembered: a share of 1/e after 128 packets.
    static let lossForgetting = 1.0 / 128
    /// The loss from which on the copies in the next packets are waited for, and the one below which they are no more.
    static let copyShares = (from: 0.01, until: 0.003)
    /// 1 s: a sender that describes its room does so at least each 400 ms (libopus); who does not is gone.
    static let senderNoiseFrameCount = 100

    let patience: Patience
    var buffer: JitterBuffer
    var estimate = DelayEstimate()
    /// The sender's clock against ours, and the sound card's.
    var arrivalDrift = DriftEstimate()
    var pullDrift = DriftEstimate()
    var control = DelayControl()
    let timeStretch = TimeStretch()
    var noise = ComfortNoise()
    var decoder: OpusDecoder
    var queue = PCMQueue(
        capacity: AudioFormat.longestPacketSampleCount + AudioFormat.packetSampleCount + TimeStretch.largestChange)
    var phase = Phase.fresh
    var ssrc: UInt32?
    /// The timestamp of the next sample to be decoded, without wraps.
    var position: Int64 = 0
    /// The packet after the last one that was played, without wraps; nil where none can be missing.
    var expectedSequence: Int64?
    /// What the sound queued last is.
    var kind = PlayoutKind.silence
    var fade = Fade()
    var endsNow = false
    /// The share of packets lost lately, and since when none carried FEC.
    var lossShare = 0.0
    var packetsSinceFEC = Int.max
    var waitsForCopies = false
    /// Whether the packet played last was a pause, and whether it was the sender's description of its room; frames since then.
    var wasQuiet = false
    var describesRoom = false
    var senderNoiseFrames = 0
    var lastSampleCount = AudioFormat.packetSampleCount
    var pulledSampleCount: Int64 = 0
    var counts = PlayoutStatistics()

    /// - Throws: libopus has no memory for a decoder.
    init(patience: Patience = .short) throws(OpusError) {
        self.init(decoder: try OpusDecoder(), patience: patience)
    }

    private init(decoder: consuming OpusDecoder, patience: Patience) {
        counts.hasDeepConcealment = decoder.hasDeepConcealment
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
                noise.forget()
                restart()
            }
            self.ssrc = ssrc
        }
        let arrival = arrivedAt.sampleCount
        let (insertion, entry) = buffer.insert(
            packet, sequenceNumber: sequenceNumber, timestamp: timestamp, arrival: arrival)
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
        if estimate.record(timestamp: entry.timestamp, arrival: arrival) {
            arrivalDrift.forget()
            control.forget()
        }
        arrivalDrift.record(distance: arrival &- entry.timestamp, at: arrival)
        packetsSinceFEC = packet.hasFEC ? 0 : packetsSinceFEC &+ (packetsSinceFEC == .max ? 0 : 1)
        lastSampleCount = packet.sampleCount
    }

    /// The next 10 ms.
    /// - Parameters:
    ///   - frame: 480 samples, mono, 48 kHz, Int16; always filled.
    ///   - now: when it is asked for.
    mutating func next(into frame: UnsafeMutableBufferPointer<Int16>, at now: Instant) -> PlayoutKind {
        precondition(frame.count == AudioFormat.frameSampleCount)
        let now = now.sampleCount
        pullDrift.record(distance: now &- pulledSampleCount, at: now)
        pulledSampleCount &+= Int64(frame.count)
        fillQueue(frame.count - wantedSlip, at: now)
        if phase == .playing {
            let delay = delay(at: now)
            control.note(delay: delay, target: target, drift: drift)
            counts.delay = Duration(sampleCount: delay)
        }
        let slip = queue.count >= frame.count - wantedSlip ? wantedSlip : 0
        queue.take(frame.count - slip, into: frame)
        note(slip: slip)
        let before = fade.gain
        fade.shape(frame, kind, endsNow: endsNow)
        let mixed = noise.isAudible && (before < 1 || fade.gain < 1)
        if mixed { noise.mix(into: frame, gains: (1 - before, 1 - fade.gain)) }
        if endsNow {
            endsNow = false
            queue.removeAll()
        }
        let heard = mixed && kind == .silence ? .comfortNoise : kind
        count(heard)
        return heard
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
        statistics.arrivalDelay = Duration(sampleCount: estimate.target)
        statistics.waitsForCopies = waitsForCopies
        statistics.lossShare = lossShare
        statistics.drift = drift * 1e6
        statistics.bufferedCount = buffer.count
        return statistics
    }
}

// MARK: - The delay

extension Playout {
    /// The delay asked for: that of the arrivals, and where packets are lost and carry FEC, one packet more, so that the next is there.
    var target: Int64 {
        let wish = estimate.target + Int64(waitsForCopies ? lastSampleCount : 0)
        return min(wish, Int64(buffer.slotCount * lastSampleCount) * 3 / 4)
    }

    /// How much later the next sample plays than its fastest possible arrival.
    func delay(at now: Int64) -> Int64 {
        now &- estimate.base &- (position &- Int64(queue.count))
    }

    /// How much of a sample is to be added in each one so that the delay stays, as the clocks run.
    private var drift: Double { arrivalDrift.slope - pullDrift.slope }

    private var wantedSlip: Int { phase == .playing && !endsNow ? control.slip(target: target) : 0 }

    private mutating func note(slip: Int) {
        control.noteSlip(slip)
        if slip > 0 { counts.slippedInSampleCount += slip } else { counts.slippedOutSampleCount -= slip }
    }

    /// Brings the sound that was decoded last to the length that the delay asks for.
    mutating func setRight(isPause: Bool) {
        guard phase == .playing, !endsNow,
            let wish = control.stretch(target: target, isQuiet: isPause, mayHurry: patience == .short)
        else { return }
        let made = queue.stretch(by: wish.change, likeness: wish.likeness, with: timeStretch)
        guard made != 0 else { return }
        control.noteStretch(made)
        if made > 0 { counts.lengthenings.add(made) } else { counts.shortenings.add(-made) }
    }

    /// Another stream begins: nothing learnt of the old one's time line holds.
    private mutating func restart() {
        counts.restartCount += 1
        estimate.forgetTimeLine()
        arrivalDrift.forget()
        control.forget()
        decoder.reset()
        expectedSequence = nil
        describesRoom = false
        if phase == .playing { phase = .waiting }
    }
}
