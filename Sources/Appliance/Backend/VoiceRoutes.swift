import VoiceCore

/// How voices are started and closed with the backend's kind: what is sent, and what the answers mean. Pure.
///
/// Left out: WHIP's trickle and ICE restart by PATCH, Pipecat's PATCH of candidates. An offer goes out with its candidates, and a
/// network that changes is a new voice.
struct VoiceRoutes: Sendable {
    let kind: BackendKind
    let urls: BackendURL
    private let chat: String

    init(_ settings: BackendSettings) throws(BackendError) {
        kind = settings.kind
        chat = settings.chat
        urls = try BackendURL(settings)
    }

    // MARK: Start

    func start(offer: String) -> BackendMessage {
        let members: [String: JSONValue]
        switch kind {
        case .contract: members = ["sdp": .text(offer)]
        case .pipecat: members = ["sdp": .text(offer), "type": .text("offer")]
        case .answer: members = [:]
        case .whip:
            return BackendMessage(
                method: .post(body: Array(offer.utf8)), url: urls.start,
                headers: ["Content-Type: application/sdp", "Accept: application/sdp"], purpose: "start a voice")
        }
        return BackendMessage(
            method: .post(body: JSONValue.object(members).encoded), url: urls.start, headers: Self.json,
            purpose: "start a voice")
    }

    /// The voice that an answer from `url` says was started, and what closes it; nil: its connection's end does.
    /// - Throws: what `BackendReply` throws.
    func started(_ response: HTTPResponse, from url: String) throws(BackendError) -> (
        voice: BackendVoice, open: UnclosedVoice?
    ) {
        let reply = BackendReply(purpose: "start a voice", url: url, response: response)
        switch kind {
        case .contract, .answer:
            let fields = try reply.fields()
            let id = try reply.id(fields["id"]?.text)
            var voice = BackendVoice(started: PBStartedVoice(id: id, sdp: try reply.sdp(fields["sdp"]?.text)))
            voice.iceServers = BackendICEServer.read(fields["iceServers"] ?? fields["ice_servers"])
            return (voice, unclosedVoice(id))
        case .pipecat:
            let fields = try reply.fields()
            let id = try reply.id(fields["pc_id"]?.text)
            var voice = BackendVoice(started: PBStartedVoice(id: id, sdp: try reply.sdp(fields["sdp"]?.text)))
            voice.iceServers = BackendICEServer.read(fields["iceServers"] ?? fields["iceConfig"]?["iceServers"])
            // Once it heard one message, it takes whoever was silent for 3 s for gone.
            voice.keepAlive = BackendVoice.KeepAlive(text: "ping", every: .seconds(1))
            return (voice, voiceToClose(response, from: url))
        case .whip:
            let sdp = try reply.sdp()
            guard let open = voiceToClose(response, from: url) else {
                throw reply.invalid(
                    "has no usable Location in it, by which the voice is closed: let what stands before the provider pass it on"
                )
            }
            var voice = BackendVoice(started: PBStartedVoice(id: open.id, sdp: sdp))
            voice.iceServers = BackendICEServer.read(links: response.links)
            voice.entityTag = response.entityTag
            return (voice, open)
        }
    }

    /// What must be closed after an answer from `url`, be the rest of it usable or not; nil: nothing.
    func voiceToClose(_ response: HTTPResponse, from url: String) -> UnclosedVoice? {
        guard response.isSuccess else { return nil }
        switch kind {
        case .contract, .answer:
            let id = JSONValue(reading: response.body)?["id"]?.text
            return id.flatMap { BackendURL.isSegment($0) ? unclosedVoice($0) : nil }
        case .pipecat:
            guard urls.hasCloseURL else { return nil }
            let id = JSONValue(reading: response.body)?["pc_id"]?.text
            return id.flatMap { BackendURL.isSegment($0) ? unclosedVoice($0) : nil }
        case .whip:
            guard let location = response.location, let address = WebAddress(url)?.resolving(location) else {
                return nil
            }
            let path = address.target.prefix { $0 != "?" }
            guard let id = path.split(separator: "/").last.map(String.init), BackendURL.isSegment(id) else {
                return nil
            }
            var open = unclosedVoice(id)
            open.location = address.text
            return open
        }
    }

    /// The voice that the contract's id means, for one of which no more is known.
    func unclosedVoice(_ id: String) -> UnclosedVoice {
        UnclosedVoice(kind: kind, id: id, chat: chat)
    }

    /// Whether a redirect is followed, with the same method and body (RFC 9110 15.4.8, 15.4.9).
    var followsRedirects: Bool {
        switch kind {
        case .whip: true  // RFC 9725 4.5
        case .contract, .pipecat, .answer: false
        }
    }

    // MARK: Answer

    /// Whether the backend makes the offer, and takes our answer.
    var answersOffers: Bool { kind == .answer }

    /// Hands our answer to the backend's offer back to it.
    func answer(_ sdp: String, voice id: String) -> BackendMessage {
        BackendMessage(
            method: .post(body: JSONValue.object(["sdp": .text(sdp), "type": .text("answer")]).encoded),
            url: urls.answer(id), headers: Self.json, purpose: "take the answer")
    }

    /// - Throws: what `BackendReply` throws.
    func answered(_ response: HTTPResponse, from url: String) throws(BackendError) {
        try BackendReply(purpose: "take the answer", url: url, response: response).whole()
    }

    // MARK: Close

    /// What closes a voice; nil: nothing does, or it was started with a backend of another kind.
    func close(_ voice: UnclosedVoice) -> BackendMessage? {
        guard voice.kind == kind, let url = urls.close(voice) else { return nil }
        let purpose = "close a voice"
        switch kind {
        case .contract, .pipecat, .answer:
            return BackendMessage(method: .post(body: Array("{}".utf8)), url: url, headers: Self.json, purpose: purpose)
        case .whip:
            return BackendMessage(
                method: urls.hasCloseURL ? .post(body: []) : .delete, url: url, headers: ["Content-Type:"],
                purpose: purpose)
        }
    }

    /// How long the closed voice lasted; nil: the backend does not say.
    /// - Throws: as `started`.
    func closed(_ response: HTTPResponse, from url: String) throws(BackendError) -> Double? {
        let reply = BackendReply(purpose: "close a voice", url: url, response: response)
        switch kind {
        case .contract:
            guard let seconds = try reply.fields()["seconds"]?.number, seconds.isFinite, seconds >= 0 else {
                throw reply.invalid("has no usable number of seconds in it: look at what serves close_url in [backend]")
            }
            return seconds
        case .whip, .pipecat, .answer:
            try reply.whole()
            return nil
        }
    }

    private static let json = ["Content-Type: application/json", "Accept: application/json"]
}
