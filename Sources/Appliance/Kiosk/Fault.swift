import VoiceCore

/// What keeps a press from being served, or a voice from being heard or hearing: what an installer reads from the LED's flicks.
///
/// Each has a name, a code of two numbers that the LED flicks and the tone beeps, a sentence for STATUS, and an entry in the journal's
/// catalog (`config/talkpost.catalog`) with its cures. No two share any of them.
enum Fault: String, Hashable, Sendable, CaseIterable {
    /// No network interface is up with an address.
    case noNetwork = "no_network"
    /// A host's name was not found.
    case dns
    /// The network wants its own page to be looked at before it lets anything through.
    case captivePortal = "captive_portal"
    /// The backend can be reached, but nothing comes back over UDP, and no other way to the provider works.
    case udpBlocked = "udp_blocked"
    /// The backend or the provider does not answer, or no longer does.
    case unreachable

    /// The backend or the provider said no, in words of its own.
    case refused
    /// The backend does not accept the credential.
    case unauthorized
    /// The backend asks to be left alone for now.
    case busy
    /// No trusted TLS connection can be made.
    case tls
    /// This machine's clock is so wrong that no certificate can be judged.
    case clock

    /// The provider said that something went wrong, or answered something unusable.
    case providerError = "provider_error"

    /// The microphone cannot be had.
    case microphoneDenied = "microphone_denied"
    /// The microphone went away during a voice.
    case microphoneLost = "microphone_lost"
    /// The speaker cannot be had, or went away during a voice.
    case speakerLost = "speaker_lost"

    /// The config or a credential cannot be used.
    case config

    /// What the LED flicks: where to look, and what it is there. A first number of one would look like `connecting`.
    var code: (place: Int, detail: Int) {
        switch self {
        case .noNetwork: (2, 1)
        case .dns: (2, 2)
        case .captivePortal: (2, 3)
        case .udpBlocked: (2, 4)
        case .unreachable: (2, 5)
        case .refused: (3, 1)
        case .unauthorized: (3, 2)
        case .busy: (3, 3)
        case .tls: (3, 4)
        case .clock: (3, 5)
        case .providerError: (4, 1)
        case .microphoneDenied: (5, 1)
        case .microphoneLost: (5, 2)
        case .speakerLost: (5, 3)
        case .config: (6, 1)
        }
    }

    /// The code as it is printed: "2-4".
    var printedCode: String { "\(code.place)-\(code.detail)" }

    /// The journal's MESSAGE_ID, by which its catalog finds the cures (sd-journal(3)). Never changes.
    var messageID: String {
        switch self {
        case .noNetwork: "246b7a88b8d6418ab2ebfb7fc20e7e4c"
        case .dns: "762a35994bf34ff692f78144190f2205"
        case .captivePortal: "7c1e14e0b82148c69fa300ff69cb2820"
        case .udpBlocked: "ddfa07a8987b4150aae24967ab5684a9"
        case .unreachable: "1d0aba36b2074a408403f55765563872"
        case .refused: "f1415518b715426a8372bf2534d72402"
        case .unauthorized: "15f955d7965d45978fc221e9f35acbfc"
        case .busy: "842d115c4a5a46c5af954ba2343f7e38"
        case .tls: "c064f1a7622d43c6bf9f55449f8534d0"
        case .clock: "88fe184203eb40298eb725a29ce99202"
        case .providerError: "ed26cba38f544baa98d985365d484eba"
        case .microphoneDenied: "4deaea88f99344b5a9913140ec06f2e8"
        case .microphoneLost: "16618090b17d4071a64ae9af5f9b84e1"
        case .speakerLost: "fc86cf0757464f9ca19308cbb34f96ca"
        case .config: "0701d05a885c4478bbad324491301251"
        }
    }

    /// For `systemctl status` and the journal; goes on a sentence.
    var sentence: String {
        switch self {
        case .noNetwork: "there is no network"
        case .dns: "a host's name is not found"
        case .captivePortal: "the network shows a page of its own instead of the backend"
        case .udpBlocked: "the network lets no UDP through"
        case .unreachable: "the backend or the provider does not answer"
        case .refused: "the backend or the provider refused it"
        case .unauthorized: "the backend does not accept the credential"
        case .busy: "the backend is busy"
        case .tls: "no trusted connection can be made"
        case .clock: "the clock is wrong"
        case .providerError: "the provider reported an error"
        case .microphoneDenied: "the microphone cannot be used"
        case .microphoneLost: "the microphone went away"
        case .speakerLost: "the speaker cannot be used"
        case .config: "the config or a credential cannot be used"
        }
    }
}

extension Fault {
    /// What kept a voice from being opened; nil: nothing did, it was given up.
    init?(_ error: PBVoiceError) {
        switch error.kind {
        case .microphoneDenied: self = .microphoneDenied
        case .audioSession: self = .speakerLost
        case .cancelled: return nil
        case .refused: self = (error.underlying as? BackendError).map { Fault($0.kind) } ?? .refused
        case .udpBlocked: self = .udpBlocked
        case .invalidAnswer, .providerError: self = .providerError
        case .unreachable: self = .unreachable
        case .noNetwork: self = .noNetwork
        case .invalidConfiguration: self = .config
        }
    }

    private init(_ kind: BackendError.Kind) {
        switch kind {
        case .invalidConfiguration, .credential: self = .config
        case .dns: self = .dns
        case .tls: self = .tls
        case .clock: self = .clock
        case .captivePortal: self = .captivePortal
        case .unreachable, .timeout, .noAnswer: self = .unreachable
        case .unauthorized: self = .unauthorized
        case .busy: self = .busy
        case .refused: self = .refused
        case .invalidAnswer: self = .providerError
        }
    }
}
