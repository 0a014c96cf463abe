import Dispatch
import Synchronization
import VoiceCore

/// A voice as the provider's side sees it.
struct AnsweredVoice: Sendable {
    /// The answer, or with the kind `answer` the offer: an SDP.
    var answer: String
    /// Takes the answer to the offer; nil: the voice is an answer itself.
    var accept: (@Sendable (_ answer: String) async throws -> Void)?
    /// Ends it.
    var close: @Sendable () -> Void
}

/// Makes the provider's side of a voice from an offer, or from none where it offers itself; VoiceCore's, or a test's.
typealias Answerer =
    @Sendable (
        _ offer: String?, _ device: RepeatingDevice, _ onState: @escaping @Sendable (PBVoiceState) -> Void
    ) async throws -> AnsweredVoice

/// A backend's routes and the voices behind them. Used from the HTTP connections' threads and the voices' own.
final class Provider: Sendable {
    private struct Voice {
        var number: Int
        var startedAt: Instant
        var device: RepeatingDevice
        /// Nil while the offer is being answered.
        var answered: AnsweredVoice?
    }

    private struct State {
        var count = 0
        var voices: [String: Voice] = [:]
        /// What the last voices that ended lasted, for a close that comes later than the end.
        var ended: [(id: String, seconds: Double)] = []
    }

    private let options: Options
    private let speech: [Int16]?
    private let log: EventLog
    private let answerer: Answerer
    private let state = Mutex(State())
    private let stopping = DispatchSemaphore(value: 0)

    init(_ options: Options, speech: [Int16]?, log: EventLog, answerer: @escaping Answerer) {
        self.options = options
        self.speech = speech
        self.log = log
        self.answerer = answerer
    }

    /// Answers one request; may wait. On a connection's thread.
    func handle(_ request: HTTPRequest) -> HTTPReply {
        switch Route(request, options.kind) {
        case .start(let chat):
            return failing(options.startFailure, request) { start(chat: chat, request) }
        case .answer(let voice): return accept(voice, request)
        case .close(_, let voice):
            return failing(options.closeFailure, request) { close(voice) }
        case .hello:
            return HTTPReply(200, type: "text/plain", body: "talkpost-provider\n")
        case .unknown:
            return Failure.notFound.reply(to: request, insteadOf: HTTPReply(404, type: "", body: ""))
        }
    }

    /// Writes out what the voices' devices noted; called a few times a second.
    func reportSound() {
        let devices = state.withLock { state in state.voices.map { ($0.key, $0.value.device) } }
        for (id, device) in devices { reportSound(of: id, device) }
    }

    /// Ends all voices and lets go of the requests that wait.
    func stop() {
        for id in state.withLock({ Array($0.voices.keys) }) { end(id, because: "the provider stops") }
        stopping.signal()
    }

    private func failing(_ failure: Failure?, _ request: HTTPRequest, _ deed: () -> HTTPReply) -> HTTPReply {
        guard let failure else { return deed() }
        log.write(
            "failure", ["path": .text(request.path)], "Asked for \(request.path), fails as it was told to: \(failure).")
        let answer =
            failure.comesAfterTheDeed ? deed() : HTTPReply(200, type: "", body: "", ending: .closedWithoutAnswer)
        switch failure {
        case .slow(let wait): pause(.now() + .nanoseconds(Int(clamping: wait.wholeNanoseconds)))
        case .hang: pause(.distantFuture)
        case .invalidToken, .forbidden, .notFound, .conflict, .rateLimited, .handlerError, .badGateway, .unavailable,
            .garbage, .wrongType, .truncated, .noSDP, .close:
            break
        }
        return failure.reply(to: request, insteadOf: answer)
    }

    /// Waits, or until the provider stops.
    private func pause(_ limit: DispatchTime) {
        if stopping.wait(timeout: limit) == .success { stopping.signal() }
    }

    private func start(chat: String, _ request: HTTPRequest) -> HTTPReply {
        if options.kind == .whip, request.type != "application/sdp" {
            return .error(415, "unsupported_media_type", "The offer is not of type application/sdp.")
        }
        let offer = Offer.read(request.body, options.kind)
        guard offer != nil || options.kind == .answer else {
            return .error(400, "invalid_body", "The body is not what an offer is sent in.")
        }
        return awaiting { [self] in await start(chat: chat, offer: offer) }
    }

    /// The connection has a thread of its own to wait on.
    private func awaiting(_ work: @escaping @Sendable () async -> HTTPReply) -> HTTPReply {
        let done = DispatchSemaphore(value: 0)
        let reply = Mutex(HTTPReply(500, type: "", body: ""))
        Task.detached(priority: .high) {
            let value = await work()
            reply.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        return reply.withLock { $0 }
    }

    private func accept(_ id: String, _ request: HTTPRequest) -> HTTPReply {
        guard let accept = state.withLock({ $0.voices[id]?.answered?.accept }) else {
            return .error(404, "not_found", "There is no voice \(id) that waits for an answer.")
        }
        guard let answer = Offer.read(request.body) else {
            return .error(400, "invalid_body", "The body is not {\"sdp\": ANSWER}.")
        }
        return awaiting {
            do {
                try await accept(answer)
                return HTTPReply(json: [:])
            } catch {
                return .error(400, "invalid_answer", "\(error)")
            }
        }
    }

    private func start(chat: String, offer: String?) async -> HTTPReply {
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let id = "voice-\(number)-\(String(UInt32.random(in: .min ... .max), radix: 16))"
        do {
            let path = options.recording.map { $0.replacing("{call}", with: "\(number)") }
            let device = try RepeatingDevice(repeatAfter: options.repeatAfter, speech: speech, recording: path)
            state.withLock { $0.voices[id] = Voice(number: number, startedAt: .now(), device: device) }
            let answered = try await answerer(offer, device) { [weak self] in self?.voice(id, is: $0) }
            let isOpen = state.withLock { state in
                state.voices[id]?.answered = answered
                return state.voices[id] != nil
            }
            if !isOpen { answered.close() }  // it ended, or the provider stopped, before it was answered
            log.write(
                "voice", ["id": .text(id), "chat": .text(chat), "call": .number(Double(number))],
                "Voice \(number) of the chat \(chat) is answered.")
            return Self.reply(options.kind, chat: chat, id: id, answer: answered.answer)
        } catch {
            state.withLock { $0.voices[id] = nil }
            let message = (error as? WAVError)?.message ?? "\(error)"
            log.write("refused", ["message": .text(message)], "An offer could not be answered: \(message)")
            let isOffer = (error as? PBVoiceError)?.kind == .invalidAnswer
            return isOffer ? .error(400, "invalid_offer", message) : .error(500, "handler_error", message)
        }
    }

    private func close(_ id: String) -> HTTPReply {
        end(id, because: "it was closed")
        guard let seconds = state.withLock({ state in state.ended.last { $0.id == id }?.seconds }) else {
            return .error(404, "not_found", "There is no voice \(id).")
        }
        return options.kind == .whip
            ? HTTPReply(200, type: "", body: "")
            : HTTPReply(json: ["seconds": .number((seconds * 1000).rounded() / 1000)])
    }

    private static func reply(_ kind: Kind, chat: String, id: String, answer: String) -> HTTPReply {
        switch kind {
        case .contract, .answer: return HTTPReply(json: ["id": .text(id), "sdp": .text(answer)])
        case .pipecat: return HTTPReply(json: ["pc_id": .text(id), "sdp": .text(answer), "type": .text("answer")])
        case .whip:
            var reply = HTTPReply(201, type: "application/sdp", body: answer)
            // What may stand in a chat's name and not in a path is left out: this is a demo, and the chat means nothing to it.
            let segment = chat.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            reply.headers = [("Location", "/whip/\(segment.isEmpty ? "chat" : segment)/\(id)"), ("ETag", "\"\(id)\"")]
            return reply
        }
    }

    private func voice(_ id: String, is newState: PBVoiceState) {
        let number = state.withLock { $0.voices[id]?.number ?? 0 }
        log.write(
            "state", ["id": .text(id), "state": .text(newState.rawValue)], "Voice \(number) is \(newState.rawValue).")
        switch newState {
        case .closed, .failed: end(id, because: "its connection is \(newState.rawValue)")
        case .new, .connecting, .connected, .disconnected: break
        }
    }

    private func end(_ id: String, because reason: String) {
        let now = Instant.now()
        let removed = state.withLock { state -> Voice? in
            guard let voice = state.voices.removeValue(forKey: id) else { return nil }
            state.ended.append((id, (now - voice.startedAt).inSeconds))
            if state.ended.count > 100 { state.ended.removeFirst() }
            return voice
        }
        guard let removed else { return }
        removed.answered?.close()
        removed.device.finish()
        reportSound(of: id, removed.device)
        let seconds = (now - removed.startedAt).inSeconds
        log.write(
            "closed",
            ["id": .text(id), "seconds": .number((seconds * 1000).rounded() / 1000), "reason": .text(reason)],
            "Voice \(removed.number) has ended: \(reason).")
    }

    private func reportSound(of id: String, _ device: RepeatingDevice) {
        for event in device.takeEvents() {
            switch event.kind {
            case .hearing: log.write("hearing", ["id": .text(id)], at: event.at, "Hears somebody speak.")
            case .repeating(let frameCount):
                let seconds = Double(frameCount) / 100
                log.write(
                    "repeating", ["id": .text(id), "seconds": .number(seconds)], at: event.at, "Repeats \(seconds) s.")
            case .interrupted: log.write("interrupted", ["id": .text(id)], at: event.at, "Is interrupted.")
            case .repeated: log.write("repeated", ["id": .text(id)], at: event.at, "Has repeated it.")
            }
        }
    }
}

/// The body of a start.
enum Offer {
    /// The offer in a body; nil where there is none.
    static func read(_ body: [UInt8], _ kind: Kind = .contract) -> String? {
        switch kind {
        case .contract: return JSONValue(reading: body)?["sdp"]?.text
        case .answer: return nil
        case .whip: return body.isEmpty ? nil : String(decoding: body, as: UTF8.self)
        case .pipecat:
            let fields = JSONValue(reading: body)
            return fields?["type"]?.text == "offer" ? fields?["sdp"]?.text : nil
        }
    }
}
