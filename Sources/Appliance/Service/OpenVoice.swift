import VoiceCore

/// A voice as the service handles it: `PBVoice`, or a stand-in in tests.
@MainActor
protocol OpenVoice: AnyObject {
    var id: String { get }
    var state: PBVoiceState { get }
    func mute(_ muted: Bool)
    /// Tells the provider to stop talking.
    func interrupt()
    /// Sends a text to the provider on the event channel.
    func send(text: String)
    /// Ends it; `onState` is told of `closed`.
    func close()
}

extension PBVoice: OpenVoice {}

/// How the service opens voices: `PBVoice.connect` and `PBVoice.prepare`, or stand-ins in tests.
struct VoiceOpener: Sendable {
    typealias Start = @MainActor (_ offer: String) async throws -> PBStartedVoice

    /// Opens a voice; throws whatever kept it from opening.
    var connect:
        @MainActor (
            _ start: @escaping Start, _ onError: @escaping @MainActor (PBVoiceError) -> Void,
            _ onState: @escaping @MainActor (PBVoiceState) -> Void
        ) async throws(PBVoiceError) -> any OpenVoice
    /// Mutes the voice that is being opened or the next one, or unmutes it.
    var mute: @MainActor (Bool) -> Void = { _ in }
    /// Makes ready what the next `connect` needs; returns at once.
    var prepare: @MainActor () -> Void

    /// How long a press waits for a first network address: a cable that was only just plugged in has one by then.
    private static let networkLimit: Duration = .seconds(4)

    /// The real ones.
    /// - Parameters:
    ///   - reach: what voices may use beside our own sockets; read anew for each.
    ///   - answer: hands our answer to a backend that makes the offer; nil: the offer is ours.
    ///   - log: what of the reach cannot be used.
    static func voices(
        _ session: PBAudioSession, reach: ReachSettings,
        answer: (@MainActor (PBStartedVoice, String) async throws -> Void)? = nil, log: Log
    ) -> VoiceOpener {
        VoiceOpener(
            connect: { (start, onError, onState) async throws(PBVoiceError) -> any OpenVoice in
                if !reach.isEmpty {
                    let current = await read(reach)
                    for problem in current.problems { log.warning(problem) }
                    PBVoice.configuration.iceServers = current.servers
                    PBVoice.configuration.proxy = current.proxy
                }
                guard let answer else {
                    return try await PBVoice.connect(
                        start: start, audioSession: session, iceTimeout: networkLimit, onError: onError,
                        onState: onState)
                }
                return try await PBVoice.connect(
                    offered: { try await start("") }, answer: answer, audioSession: session, onError: onError,
                    onState: onState)
            },
            mute: { PBVoice.muteWhileConnecting($0) }, prepare: { PBVoice.prepare(answering: answer != nil) })
    }

    /// Off the main actor: files are read.
    private nonisolated static func read(_ reach: ReachSettings) async -> ReachSettings.Current { reach.current() }
}
