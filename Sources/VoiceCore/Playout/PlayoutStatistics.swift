/// What a Playout gave for one frame of 10 ms.
enum PlayoutKind: Sendable {
    /// Sound as the far end sent it.
    case decoded
    /// Sound that was lost, from the copy in the packet after it.
    case fec
    /// Invention in place of sound that is lost or late.
    case concealed
    /// The room of whoever speaks, while nothing is sent: by the sender's own description of it, or as the last pause sounded.
    case comfortNoise
    /// Nothing: nothing came yet, or nothing for so long that inventing more would buzz.
    case silence
}

/// What a Playout did since it was made. Counts of packets unless the name says frames (of 10 ms).
struct PlayoutStatistics: Equatable, Sendable {
    var receivedCount = 0
    var duplicateCount = 0
    /// Came after their turn.
    var lateCount = 0
    /// No Opus, or too large, or not to be decoded.
    var malformedCount = 0
    /// Not there when their turn came, as the sequence numbers tell: lost, late or pushed out.
    var lostCount = 0
    /// Left out to bring the delay down: pauses first, sound only when it is far too much.
    var shortenedCount = 0
    /// How often the sound was made longer, or shorter, by periods of its own, and by how many samples in all.
    var lengthenings = Stretches()
    var shortenings = Stretches()
    /// Samples added, and left out, one at a time.
    var slippedInSampleCount = 0
    var slippedOutSampleCount = 0
    /// Pushed out because the buffer was full.
    var overflowCount = 0
    /// The sender began anew.
    var restartCount = 0
    /// How often sound was due and nothing was there.
    var underrunCount = 0
    var decodedFrameCount = 0
    var fecFrameCount = 0
    var concealedFrameCount = 0
    var comfortNoiseFrameCount = 0
    var silentFrameCount = 0
    /// What the packets' arrivals alone ask for.
    var arrivalDelay = Duration.zero
    /// Whether sound waits for one packet more, because packets are lost and the next ones carry copies.
    var waitsForCopies = false
    /// The share of packets lost lately.
    var lossShare: Double = 0
    /// What the delay should be: between a packet's fastest possible arrival and its play.
    var targetDelay = Duration.zero
    /// What it is.
    var delay = Duration.zero
    /// How long packets waited from their arrival to their play, in the mean of all.
    var meanWait: Duration { .microseconds(waitedCount > 0 ? waited / waitedCount * 1000 / 48 : 0) }
    /// Samples that packets waited, and how many packets.
    var waited = 0
    var waitedCount = 0
    /// How much faster our sound card takes than the sender sends, in parts per million; 0 while that cannot be told.
    var drift: Double = 0
    /// Whether lost sound is invented by libopus' deep concealment, as far as it can be told.
    var hasDeepConcealment = false
    /// Packets that wait now.
    var bufferedCount = 0

    struct Stretches: Equatable, Sendable {
        var count = 0
        var sampleCount = 0

        mutating func add(_ sampleCount: Int) {
            count += 1
            self.sampleCount += sampleCount
        }
    }
}
