/// The conversation with the provider on its event channel: what the channel brings in, what is to be told and sent out. Pure; part of
/// the engine of a voice that talks to a provider.
struct ProviderDialogue {
    /// What follows from something on the channel.
    struct Outcome: Equatable {
        /// To be sent on the channel, in this order.
        var messages: [JSONValue] = []
        /// To be told.
        var news: ProviderMessage?
        /// The session is over, however well the connection is.
        var isOver = false
    }

    var turns: TurnTaking
    /// The channel that the provider's events come on: the first that opened, whoever opened it.
    private(set) var channel: String?
    /// Messages that were no events.
    private(set) var unreadableCount = 0

    init(turns: TurnTaking) {
        self.turns = turns
    }

    mutating func opened(_ label: String) -> Outcome {
        guard channel == nil else { return Outcome() }
        channel = label
        return Outcome(messages: turns.channelOpened())
    }

    /// - Parameter wasLost: whether nothing came back any more, which says nothing about the session: the media's path is judged apart.
    mutating func closed(_ label: String, wasLost: Bool) -> Outcome {
        Outcome(isOver: label == channel && !wasLost)
    }

    mutating func heard(_ bytes: [UInt8]) -> Outcome {
        let message = ProviderMessage(reading: bytes)
        switch message {
        case .unreadable:
            unreadableCount &+= 1
            return Outcome()
        case .event(let event):
            turns.see(event)
            return Outcome(news: message)
        case .error: return Outcome(news: message)
        case .sessionEnded: return Outcome(news: message, isOver: true)
        }
    }
}
