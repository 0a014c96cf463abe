/// Something the host's operator should know that is no error of a voice. A sentence each; once per change.
public enum VoiceDiagnostic: Sendable, Equatable, CustomStringConvertible {
    /// A thread of ours could not have real-time scheduling: sound may stutter under load.
    case realtimeRefused(thread: String, reason: String)
    /// The network interface's socket could not be opened; the others are used.
    case interfaceUnusable(name: String, reason: String)
    /// The sound device went away during a voice, or came back.
    case audioDevice(AudioDeviceError.Reason, String)
    /// At a voice's end: how long sound took from the microphone to the socket.
    case microphoneDelay(mean: Duration, longest: Duration)
    /// At a voice's end: how long sound took from the socket to the speaker, and how much of it in the jitter buffer.
    case speakerDelay(mean: Duration, jitterBuffer: Duration)
    /// At a voice's end: how many of the provider's messages were none of the events that talk posts are told by.
    case unreadableMessages(Int)

    /// Whether it is a figure rather than something that is wrong.
    public var isFigure: Bool {
        switch self {
        case .realtimeRefused, .interfaceUnusable, .audioDevice: false
        case .microphoneDelay, .speakerDelay, .unreadableMessages: true
        }
    }

    public var description: String {
        switch self {
        case .realtimeRefused(let thread, let reason):
            "The thread \(thread) runs without real-time priority (\(reason)); allow LimitRTPRIO in its unit."
        case .interfaceUnusable(let name, let reason):
            "The network interface \(name) is not used: \(reason)."
        case .audioDevice(_, let sentence):
            sentence
        case .microphoneDelay(let mean, let longest):
            "The microphone's delay was \(Self.milliseconds(mean)) on average from a sample to its packet, "
                + "at most \(Self.milliseconds(longest))."
        case .speakerDelay(let mean, let jitterBuffer):
            "The speaker's delay was \(Self.milliseconds(mean)) on average from a packet to its sample, "
                + "\(Self.milliseconds(jitterBuffer)) of it in the jitter buffer."
        case .unreadableMessages(let count):
            count == 1
                ? "The provider sent 1 message that is no event."
                : "The provider sent \(count) messages that are no events."
        }
    }

    /// With one digit after the point.
    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = (duration.wholeNanoseconds + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10) ms"
    }
}
