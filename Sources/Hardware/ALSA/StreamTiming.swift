/// When a microphone's sound was in the air, and how much unread sound is too much. Pure; a capture stream owns it.
struct CaptureTiming: Sendable {
    /// How much unread sound is kept for a thread that comes late.
    static let backlogLimit: Duration = .milliseconds(60)

    let grant: PCM.Grant
    let converterLatency: Duration

    /// When the last sample handed out was in the microphone.
    /// - Parameter pendingCount: samples that were read but not handed out.
    func capturedAt(_ status: PCM.Status, pendingCount: Int) -> Duration {
        guard status.isRunning else { return status.at }
        return status.at - grant.duration(max(0, status.delayCount) + pendingCount) - converterLatency
    }

    /// How many samples to give up, so that what was late does not stay late; one period is left, which is what a thread that is in
    /// time finds.
    func excess(_ status: PCM.Status) -> Int {
        let most = grant.sampleCount(Self.backlogLimit) + grant.periodSampleCount
        return status.availableCount > most ? status.availableCount - grant.periodSampleCount : 0
    }
}

/// When a speaker's sound will be in the air, and how full its card may be. Pure; a playback stream owns it.
struct PlaybackTiming: Sendable {
    static let frame: Duration = .milliseconds(10)

    let grant: PCM.Grant
    let converterLatency: Duration

    /// When the next sample written will sound.
    func playsAt(_ status: PCM.Status) -> Duration {
        status.at + grant.duration(max(0, status.delayCount)) + converterLatency
    }

    /// Whether a frame more would only come out late: a stalled card still has room. What lies behind the card's buffer, on its cable or
    /// in its own processor, does not count: nobody can keep that short.
    func isFull(_ status: PCM.Status, target: Duration) -> Bool {
        grant.bufferSampleCount - status.availableCount > grant.sampleCount(target + Self.frame)
            + grant.periodSampleCount
    }

    /// The room at which a frame is asked for, so that at most `target` lies in the card after it.
    func room(target: Duration) -> Int {
        let buffer = grant.bufferSampleCount
        let frameCount = grant.sampleCount(Self.frame)
        let targetCount = min(buffer, grant.sampleCount(target))
        return min(buffer, max(frameCount, buffer - targetCount + frameCount))
    }

    /// The silence before the first frame, so that the frame after it is not late already. The card starts at it.
    func silenceCount(target: Duration) -> Int {
        max(1, min(grant.bufferSampleCount, grant.sampleCount(target)) - grant.sampleCount(Self.frame))
    }
}
