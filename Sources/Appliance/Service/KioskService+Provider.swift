import VoiceCore

/// What the provider tells beside its sound, and what goes wrong.
extension KioskService {
    /// The provider's word in the voice with this id.
    func hear(_ event: VoiceEvent, in id: String) {
        guard let call, call.startedID == id else { return }
        switch event {
        case .session(let expiresAt?):
            guard let expiry = SessionExpiry.instant(of: expiresAt) else { break }
            post(.voice(.expires(expiry), call: call.number))
        case .sessionOver(isExpiry: true): post(.voice(.expired, call: call.number))
        case .line(let line): announce(.line(line))
        case .session(nil), .sessionOver(isExpiry: false), .visitorSpeaks, .response, .providerSpeaks, .outputCleared,
            .unknown:
            break
        }
    }

    /// What goes wrong in a voice: the provider's own word, which ends nothing, or why the connection is about to fail.
    func hear(_ error: PBVoiceError, of call: Call) {
        report(error)
        switch error.kind {
        case .udpBlocked, .unreachable:
            if let fault = Fault(error) { post(.voice(.trouble(fault), call: call.number)) }
        case .microphoneDenied, .audioSession, .cancelled, .refused, .invalidAnswer, .noNetwork, .providerError,
            .invalidConfiguration:
            break
        }
    }

    /// Some providers take whoever is silent on the event channel for gone.
    func keepAlive(_ call: Call, _ keepAlive: BackendVoice.KeepAlive) {
        call.keepingAlive = Task { [weak call] in
            while (try? await Task.sleep(for: keepAlive.every, clock: SuspendingClock())) != nil,
                let voice = call?.voice
            {
                voice.send(text: keepAlive.text)
            }
        }
    }

    func report(_ error: PBVoiceError) {
        let cause = error.underlying.map { "\($0)" } ?? ""
        let message =
            cause.isEmpty || error.message.firstPlace(of: cause) != nil ? error.message : "\(error.message) \(cause)"
        log.error("\(error.code): \(message)")
        announce(.error(code: error.code, message: message))
    }
}
