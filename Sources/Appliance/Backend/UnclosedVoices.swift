import Synchronization
import VoiceCore

/// The voices that the backend may have open: from its answer until it said that they are closed. On disk too, so that they are
/// closed after a power cut. Used from any task; the backend thread writes the file.
final class UnclosedVoices: Sendable {
    /// A talk post has one at a time; the rest are ends of which the backend could not be told.
    static let countLimit = 32

    private let file: StateFile?
    private let mailbox: BackendMailbox
    private let notice: @Sendable (String) -> Void
    private let voices: Mutex<[UnclosedVoice]>
    private let hasFailed = Mutex(false)

    /// Reads what the last run left; blocks for it.
    init(directory: String?, mailbox: BackendMailbox, notice: @escaping @Sendable (String) -> Void) {
        file = directory.map { StateFile(directory: $0, name: "open-voices") }
        self.mailbox = mailbox
        self.notice = notice
        voices = Mutex(file?.read().map(Self.read) ?? [])
    }

    var all: [UnclosedVoice] { voices.withLock { $0 } }

    func voice(_ id: String) -> UnclosedVoice? { voices.withLock { $0.last { $0.id == id } } }

    func add(_ voice: UnclosedVoice) {
        change { voices in
            voices.removeAll { $0 == voice }
            voices.append(voice)
            if voices.count > Self.countLimit { voices.removeFirst(voices.count - Self.countLimit) }
        }
    }

    func remove(_ voice: UnclosedVoice) {
        change { $0.removeAll { $0 == voice } }
    }

    private func change(_ body: (inout [UnclosedVoice]) -> Void) {
        voices.withLock { voices in
            let before = voices
            body(&voices)
            guard let file, voices != before else { return }
            // Under the lock, so that the last state is the last written.
            mailbox.post(.save(file, Self.bytes(of: voices)) { [self] in failed($0) })
        }
    }

    private func failed(_ reason: String) {
        let isFirst = hasFailed.withLock { hasFailed in
            defer { hasFailed = true }
            return !hasFailed
        }
        guard isFirst else { return }
        notice("After a power cut an open voice could not be closed, because it cannot be written down: \(reason).")
    }

    // MARK: The file

    /// Empty where there are none.
    static func bytes(of voices: [UnclosedVoice]) -> [UInt8] {
        if voices.isEmpty { return [] }
        let entries = voices.map { voice -> JSONValue in
            var members: [String: JSONValue] = [
                "kind": .text(voice.kind.rawValue), "id": .text(voice.id), "chat": .text(voice.chat),
            ]
            members["location"] = voice.location.map { .text($0) }
            return .object(members)
        }
        return JSONValue.object(["voices": .array(entries)]).encoded
    }

    /// What cannot be read is left out: a file that was spoilt must keep nobody from talking.
    static func read(_ bytes: [UInt8]) -> [UnclosedVoice] {
        guard case .array(let entries) = JSONValue(reading: bytes)?["voices"] else { return [] }
        return entries.prefix(countLimit).compactMap { entry in
            guard let kind = entry["kind"]?.text.flatMap(BackendKind.init), let id = entry["id"]?.text,
                let chat = entry["chat"]?.text, BackendURL.isSegment(id), chat.utf8.count <= 1024
            else { return nil }
            var voice = UnclosedVoice(kind: kind, id: id, chat: chat)
            if let location = entry["location"]?.text {
                guard let address = WebAddress(location) else { return nil }
                voice.location = address.text
            }
            return voice
        }
    }
}

/// When the close of a voice is tried again. Pure.
enum CloseRetry {
    /// How long to wait after so many failures in a row; nil: it is left to the next start of the program.
    ///
    /// From 1 s to 5 min, an hour in all: no provider keeps a voice open for longer.
    static func wait(afterFailures count: Int, _ error: BackendError) -> Duration? {
        guard (1...19).contains(count), !isFinal(error) else { return nil }
        let own = Duration.seconds(min(300, 1 << min(count - 1, 9)))
        return max(own, min(error.retryAfter ?? .zero, .seconds(300)))
    }

    /// Whether the backend would say the same again.
    static func isFinal(_ error: BackendError) -> Bool {
        guard let status = error.status, (400..<500).contains(status) else { return false }
        switch error.kind {
        case .refused: return status != 408
        case .invalidConfiguration, .credential, .dns, .unreachable, .tls, .clock, .captivePortal, .timeout, .noAnswer,
            .unauthorized, .busy, .invalidAnswer:
            return false
        }
    }

    /// Whether there is no such voice, so that none is left open (RFC 9110 15.5.5, 15.5.11).
    static func isGone(_ error: BackendError) -> Bool { error.status == 404 || error.status == 410 }
}
