/// What a Playout gave for one frame of 10 ms.
enum PlayoutKind: Sendable {
    /// Sound as the far end sent it.
    case decoded
    /// Sound that was lost, from the copy in the packet after it.
    case fec
    /// Invention in place of sound that is lost or late.
    case concealed
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
    /// Pushed out because the buffer was full.
    var overflowCount = 0
    /// The sender began anew.
    var restartCount = 0
    /// How often sound was due and nothing was there.
    var underrunCount = 0
    var decodedFrameCount = 0
    var fecFrameCount = 0
    var concealedFrameCount = 0
    var silentFrameCount = 0
    /// What the delay should be: between a packet's fastest possible arrival and its play.
    var targetDelay = Duration.zero
    /// What it is.
    var delay = Duration.zero
    /// Packets that wait now.
    var bufferedCount = 0
}
