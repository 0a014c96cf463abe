/// How voices are started and closed with a backend: what is sent where, and what its answers look like.
enum BackendKind: String, CaseIterable, Sendable {
    /// POST {"sdp"} answers {"id", "sdp"}; POST …/{voice}/close answers {"seconds"}.
    case contract
    /// POST of the bare offer answers with the bare answer and the voice's address in Location, where DELETE closes it: WHIP (RFC 9725),
    /// and proxies that pass a provider's own calls route on.
    case whip
    /// POST {"sdp", "type": "offer"} answers {"sdp", "type", "pc_id"}: Pipecat's route. A voice ends with its connection.
    case pipecat
    /// POST of {} answers {"id", "sdp"}, the backend's own offer; our answer is posted to …/{voice}/answer as {"sdp", "type": "answer"}.
    case answer
}

/// What the body of a token's refresh looks like.
enum RefreshBody: String, CaseIterable, Sendable {
    /// {"refresh_token": …}
    case json
    /// RFC 6749 6: grant_type=refresh_token&refresh_token=…
    case form
}
