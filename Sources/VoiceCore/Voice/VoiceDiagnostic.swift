/// Something the host's operator should know that is no error of a voice. A sentence each; once per change.
public enum VoiceDiagnostic: Sendable, Equatable, CustomStringConvertible {
    /// A thread of ours could not have real-time scheduling: sound may stutter under load.
    case realtimeRefused(thread: String, reason: String)
    /// The network interface's socket could not be opened; the others are used.
    case interfaceUnusable(name: String, reason: String)
    /// The sound device went away during a voice, or came back.
    case audioDevice(AudioDeviceError.Reason, String)

    public var description: String {
        switch self {
        case .realtimeRefused(let thread, let reason):
            "The thread \(thread) runs without real-time priority (\(reason)); allow LimitRTPRIO in its unit."
        case .interfaceUnusable(let name, let reason):
            "The network interface \(name) is not used: \(reason)."
        case .audioDevice(_, let sentence):
            sentence
        }
    }
}
