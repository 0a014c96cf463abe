import Testing
import VoiceCore

// The contract's app-side example, as an app writes it. Only the imports differ: VoiceCore stands for PalbaseVoice, and `pb`
// below for the client of the app's backend that a tool writes. It sees only what is public.

@MainActor
private func talk(chatId: String) async throws -> PBVoice {
    try await PBVoice.connect(
        start: { sdp in
            // The offer through the app's own backend; the voice it started and the provider's answer back.
            let started = try await pb.backend.voice.start(chatId: chatId, .init(sdp: sdp))
            return PBStartedVoice(id: started.id, sdp: started.sdp)
        },
        onState: { state in
            print("voice:", state.rawValue)
        })
}

/// Every label and every member of the face, as the contract's tables have them.
@MainActor
private func useEverything() async throws {
    let voice = try await PBVoice.connect(
        start: { sdp in PBStartedVoice(id: "voice-1", sdp: sdp) }, audioSession: .app, iceTimeout: .seconds(2),
        onError: { error in print("voice error:", error) }, onState: { _ in })
    let id: String = voice.id
    let state: PBVoiceState = voice.state
    voice.mute(true)
    let isMuted: Bool = voice.muted
    print(id, state, isMuted)
    voice.close()
}

@Suite struct ContractExampleTests {
    @Test func theExampleAndTheWholeFaceCompileFromOutside() {
        let example: @MainActor (String) async throws -> PBVoice = talk(chatId:)
        let face: @MainActor () async throws -> Void = useEverything
        _ = (example, face)
    }

    @Test func theStatesHaveTheContractsNamesInItsOrder() {
        #expect(
            PBVoiceState.allCases.map(\.rawValue)
                == ["new", "connecting", "connected", "disconnected", "failed", "closed"])
    }

    @Test func aRefusedMicrophoneHasTheContractsCode() {
        #expect(PBVoiceError.Code.microphoneDenied.rawValue == "microphone_denied")
    }
}

// What stands for the generated client: one route of the app's backend.
private let pb = GeneratedClient()

private struct GeneratedClient: Sendable {
    struct Offer: Sendable { var sdp: String }
    struct Started: Sendable { var id: String, sdp: String }
    struct Voice: Sendable {
        func start(chatId: String, _ body: Offer) async throws -> Started { Started(id: chatId, sdp: body.sdp) }
    }
    struct Backend: Sendable { var voice = Voice() }
    var backend = Backend()
}
