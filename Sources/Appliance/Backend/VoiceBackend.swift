import VoiceCore

/// The HTTP service that starts and ends voices (the contract's two routes), as the rest of the appliance sees it.
///
/// Owned by the service on the main actor; its calls suspend and never block the caller. It never retries a POST.
protocol VoiceBackend: Sendable {
    /// Posts the offer and returns the voice it started with the provider's answer.
    ///
    /// Throws `BackendError` with its code and a sentence. A cancelled caller is resumed at once; a voice that the backend
    /// starts all the same is closed in the background.
    func start(offer: String) async throws -> PBStartedVoice

    /// Posts the close of a voice and returns how many seconds the backend says it lasted. Throws `BackendError`.
    func close(voice: String) async throws -> Double

    /// Opens the connection that the next `start` will want, where none is open. Returns at once; a failure is silent.
    func warm()

    /// Returns once nothing is under way, in the background either, or after the limit: before the process ends.
    func settled(within limit: Duration) async
}
