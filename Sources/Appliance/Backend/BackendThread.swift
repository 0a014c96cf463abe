internal import CCurl
import Glibc
import VoiceCore

/// The thread that owns libcurl ("tp-backend"). Everything libcurl does happens here, because even the removal of a request
/// can block in a resolver.
///
/// Made by `BackendClient`, which talks to it through the mailbox only. It never reads the config or a credential.
final class BackendThread {
    private let mailbox: BackendMailbox
    private let multi: UnsafeMutableRawPointer
    /// How long an answer that nobody waits for is still waited for, so that the voice it starts can be closed.
    private let adoptionLimit: Duration
    private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
    private var warmth = Warmth()
    private var warmingRequest: HTTPRequest?
    /// The open connection at rest, watched for the server's closing it.
    private var idleSocket: Int32?
    private var idleSocketWasUsed = false
    private var idleWaiters: [(continuation: CheckedContinuation<Void, Never>, deadline: Instant)] = []
    private var isStopping = false
    /// The local addresses of connections that may be open.
    private var usedAddresses: Set<String> = []
    private let localAddresses: @Sendable () -> Set<String>

    /// Starts the thread.
    /// - Parameter localAddresses: those that this machine has now.
    /// - Throws: `invalidConfiguration` where the system gives no thread or libcurl cannot be used.
    static func start(
        _ mailbox: BackendMailbox, adoptionLimit: Duration, localAddresses: @escaping @Sendable () -> Set<String>
    ) throws(BackendError) {
        guard CurlLibrary.isUsable, let multi = curl_multi_init() else {
            throw BackendError(.invalidConfiguration, "libcurl could not be set up: the memory is used up.")
        }
        mailbox.open(multi)
        let thread = BackendThread(
            mailbox, multi: multi, adoptionLimit: adoptionLimit, localAddresses: localAddresses)
        let retained = Unmanaged.passRetained(thread)
        var id = pthread_t()
        let code = pthread_create(&id, nil, { BackendThread.main($0) }, retained.toOpaque())
        guard code == 0 else {
            retained.release()
            throw BackendError(
                .invalidConfiguration,
                "The backend's thread could not be started (\(String(cString: strerror(code)))): raise TasksMax.")
        }
        pthread_detach(id)
    }

    private static func main(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        talkpost_name_backend_thread("tp-backend")
        Unmanaged<BackendThread>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }

    private init(
        _ mailbox: BackendMailbox, multi: UnsafeMutableRawPointer, adoptionLimit: Duration,
        localAddresses: @escaping @Sendable () -> Set<String>
    ) {
        self.mailbox = mailbox
        self.multi = multi
        self.adoptionLimit = adoptionLimit
        self.localAddresses = localAddresses
    }

    deinit {
        mailbox.close()
        transfers.removeAll()
        curl_multi_cleanup(multi)
    }

    private func run() {
        while true {
            // Asked first: who is no longer at work has posted all that came of it.
            let wasAtWork = mailbox.isAtWork
            for command in mailbox.take() { handle(command) }
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            finishTransfers()
            let now = Instant.now()
            giveUpLateTransfers(at: now)
            resumeIdleWaiters(at: now, isIdle: transfers.isEmpty && !wasAtWork && !mailbox.isAtWork)
            if isStopping && transfers.isEmpty { return }
            if warmth.isDue(at: now), let warmingRequest { add(warmingRequest, pending: nil) }
            sleep(from: now)
        }
    }

    private func handle(_ command: BackendCommand) {
        switch command {
        case .perform(let request, let pending):
            if !pending.isSettled { add(request, pending: pending) }
        case .abandon(let pending):
            guard let transfer = transfers.values.first(where: { $0.pending === pending }) else { return }
            abandon(transfer, at: .now())
        case .warm(let request):
            warmingRequest = request
            warmth.want(at: .now())
        case .save(let file, let bytes, let failed):
            if let reason = file.write(bytes) { failed(reason) }
        case .whenIdle(let continuation, let limit):
            idleWaiters.append((continuation, .now() + limit))
        case .look: break
        case .stop:
            isStopping = true
            warmth.stop()
            for transfer in transfers.values where transfer.isWarming { remove(transfer) }
        }
    }

    private func add(_ request: HTTPRequest, pending: PendingResponse?, isRetry: Bool = false, deadline: Instant? = nil)
    {
        do throws(BackendError) {
            let transfer = try Transfer(
                request, pending: pending, isRetry: isRetry, deadline: deadline ?? .now() + request.timeout)
            if !request.isAside { idleSocket = nil }
            // A connection from an address that the machine no longer has is dead, and would say so only after minutes.
            if !usedAddresses.isSubset(of: localAddresses()) {
                transfer.leaveOldConnections()
                usedAddresses = []
            }
            transfers[transfer.easy] = transfer
            curl_multi_add_handle(multi, transfer.easy)
        } catch {
            settle(request, pending, .failure(error))
        }
    }

    private func finishTransfers() {
        var result = CURLE_OK
        while let easy = talkpost_curl_next_finished(multi, &result) {
            guard let transfer = transfers[easy] else { continue }
            let openSocket = transfer.openSocket
            if openSocket != nil, let address = transfer.localAddress { usedAddresses.insert(address) }
            let outcome = transfer.outcome(result)
            remove(transfer)
            rest(after: transfer, openSocket: openSocket)
            if transfer.mayRetry(result), !transfer.isWarming, transfer.pending?.isSettled != true {
                add(transfer.request, pending: transfer.pending, isRetry: true, deadline: transfer.deadline)
            } else {
                if !transfer.request.isAside { note(outcome) }
                settle(transfer.request, transfer.pending, outcome)
            }
        }
    }

    /// Whatever status it answers with, a backend that answers is there.
    private func note(_ outcome: PendingResponse.Outcome) {
        switch outcome {
        case .success: mailbox.note(fault: nil)
        case .failure(let error): mailbox.note(fault: error.message)
        }
    }

    /// Hands the outcome to who waits for it, or does what must be done where nobody does.
    private func settle(_ request: HTTPRequest, _ pending: PendingResponse?, _ outcome: PendingResponse.Outcome) {
        if let pending, pending.settle(outcome) { return }
        request.afterAbandonment?(outcome)
    }

    /// Notes whether a connection stays open behind a transfer that has ended.
    private func rest(after transfer: Transfer, openSocket: Int32?) {
        if transfer.request.isAside { return }
        if transfer.isWarming { warmth.attempted() } else { warmth.used() }
        guard let openSocket else {
            warmth.lost(wasUsed: !transfer.isWarming, at: .now())
            return
        }
        warmth.opened()
        idleSocket = transfers.isEmpty ? openSocket : nil
        idleSocketWasUsed = !transfer.isWarming
    }

    private func giveUpLateTransfers(at now: Instant) {
        for transfer in transfers.values where transfer.deadline <= now {
            if !transfer.request.isAside { mailbox.note(fault: transfer.timeoutError().message) }
            if let pending = transfer.pending, pending.settle(.failure(transfer.timeoutError())) {
                abandon(transfer, at: now)
            } else {
                remove(transfer)
                rest(after: transfer, openSocket: nil)
                if transfer.pending == nil { settle(transfer.request, nil, .failure(transfer.timeoutError())) }
            }
        }
    }

    /// Nobody waits for it any longer. What was sent is waited for all the same where its answer obliges to something.
    private func abandon(_ transfer: Transfer, at now: Instant) {
        if transfer.wasSent, transfer.request.afterAbandonment != nil {
            transfer.deadline = now + adoptionLimit
        } else {
            remove(transfer)
            rest(after: transfer, openSocket: nil)
        }
    }

    private func remove(_ transfer: Transfer) {
        curl_multi_remove_handle(multi, transfer.easy)
        transfers[transfer.easy] = nil
    }

    private func resumeIdleWaiters(at now: Instant, isIdle: Bool) {
        guard !idleWaiters.isEmpty else { return }
        for waiter in idleWaiters where isIdle || waiter.deadline <= now { waiter.continuation.resume() }
        idleWaiters.removeAll { isIdle || $0.deadline <= now }
    }

    /// Until something happens on a connection, a command is posted, or the earliest deadline.
    private func sleep(from now: Instant) {
        var wake = now + .seconds(60)
        for transfer in transfers.values { wake = min(wake, transfer.deadline) }
        for waiter in idleWaiters { wake = min(wake, waiter.deadline) }
        if let deadline = warmth.deadline { wake = min(wake, deadline) }
        let milliseconds = Int32(max(0, min((wake - now).wholeNanoseconds / 1_000_000 + 1, 60_000)))

        guard let idleSocket else {
            curl_multi_poll(multi, nil, 0, milliseconds, nil)
            return
        }
        var watched = curl_waitfd(fd: idleSocket, events: Int16(CURL_WAIT_POLLIN), revents: 0)
        curl_multi_poll(multi, &watched, 1, milliseconds, nil)
        if watched.revents != 0 {  // nothing is due on it but its end
            self.idleSocket = nil
            warmth.lost(wasUsed: idleSocketWasUsed, at: .now())
        }
    }
}

extension Transfer {
    /// Whether it only opens a connection.
    var isWarming: Bool {
        switch request.method {
        case .head: true
        case .post, .delete, .get: false
        }
    }
}

/// libcurl as a whole, set up once in a process.
enum CurlLibrary {
    static let isUsable = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// "7.88.1"
    static var version: String { String(cString: talkpost_curl_version()) }
}
