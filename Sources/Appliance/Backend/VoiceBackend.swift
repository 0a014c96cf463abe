/// The HTTP service that starts and ends voices, as the rest of the appliance sees it.
///
/// Owned by the service on the main actor; its calls suspend and never block the caller. It never repeats a POST that may have
/// been taken.
protocol VoiceBackend: Sendable {
    /// Posts the offer and returns the voice it started with the provider's answer.
    ///
    /// Throws `BackendError` with its code and a sentence. A cancelled caller is resumed at once; a voice that the backend
    /// starts all the same is closed in the background.
    func start(offer: String) async throws -> BackendVoice

    /// Closes a voice and returns how many seconds the backend says it lasted, nil where it does not say. Throws `BackendError`
    /// where it did not work at once; it is then tried again in the background, and after the next start of the program.
    func close(voice: String) async throws -> Double?

    /// Opens the connection that the next `start` will want, where none is open. Returns at once; a failure is silent.
    func warm()

    /// Returns once nothing is under way, in the background either, or after the limit: before the process ends.
    func settled(within limit: Duration) async
}
