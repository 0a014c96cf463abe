/// Stands where the config names no backend that could be used: each press is told why, and the talk post stays up.
struct MissingBackend: VoiceBackend {
    let error: BackendError

    func start(offer: String) async throws -> BackendVoice { throw error }
    func close(voice: String) async throws -> Double? { throw error }
    func warm() {}
    func settled(within limit: Duration) async {}
}
