extension Kiosk.State {
    /// In plain words, for `systemctl status`.
    var sentence: String {
        switch self {
        case .idle: "Waiting for a press."
        case .connecting, .talking(_, .connecting): "Connecting to the provider."
        case .talking(_, .connected): "In a voice."
        case .talking(_, .disconnected): "In a voice, but nothing comes back from the provider."
        case .closing: "Closing the voice."
        case .fault(let fault, _): "The last press could not be served: \(fault.sentence). The journal says more."
        case .ended: "Ended."
        }
    }
}

extension CloseReason {
    /// Why, for the log.
    var sentence: String {
        switch self {
        case .idle: "Nobody said anything for a while: closing the voice."
        case .pressed: "The visitor ended the voice."
        case .ended: "The provider ended the voice."
        case .lost: "The connection is lost: closing the voice."
        case .expired: "The provider's session has lasted as long as it may: going on in a new voice."
        case .neverConnected: "The provider could not be reached in time: closing the voice."
        case .quit: "Closing the voice, as the talk post is about to end."
        }
    }
}
