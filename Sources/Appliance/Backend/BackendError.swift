import VoiceCore

/// Why the backend did not start or close a voice. `message` is a sentence: what, where, and the cure; no secret is in it.
struct BackendError: Error, Equatable, CustomStringConvertible {
    /// What kind of failure it is: what the appliance decides by.
    enum Kind: String, CaseIterable {
        /// The settings cannot be used.
        case invalidConfiguration = "invalid_configuration"
        /// A credential file cannot be read or holds nothing usable.
        case credential
        /// The host's name was not found.
        case dns
        /// The connection could not be opened; nothing was sent.
        case unreachable
        /// No trusted TLS connection could be made; nothing was sent.
        case tls
        /// As `tls`, because this machine's clock is wrong.
        case clock
        /// A network's sign-in page stands between this machine and the backend.
        case captivePortal = "captive_portal"
        /// No whole answer came within the time set.
        case timeout
        /// The connection ended after the request was sent and before an answer came. It is not sent again.
        case noAnswer = "no_answer"
        /// The backend, or a proxy before it, does not take the credentials.
        case unauthorized
        /// The backend serves nobody for a while, longer than a visitor may be kept waiting (429, 503).
        case busy
        /// An answer with any other status than 2xx.
        case refused
        /// An answer of status 2xx that cannot be used.
        case invalidAnswer = "invalid_answer"
    }

    var kind: Kind
    /// Stable, snake_case: the backend's own code where it gave one ("rate_limited"), else the kind's.
    var code: String
    var message: String
    /// The HTTP status, where an answer came.
    var status: Int?
    /// What the backend calls the request by, for its operator.
    var requestID: String?
    /// How long the backend asks to be left alone.
    var retryAfter: Duration?
    /// What is wrong with the far end's certificate, where the kind is `tls`.
    var doubt: TLSDoubt?

    init(
        _ kind: Kind, _ message: String, code: String? = nil, status: Int? = nil, requestID: String? = nil,
        retryAfter: Duration? = nil
    ) {
        self.kind = kind
        self.code = code ?? kind.rawValue
        self.message = message
        self.status = status
        self.requestID = requestID
        self.retryAfter = retryAfter
    }

    var description: String { "\(code): \(message)" }

    /// The same error with every occurrence of a secret blotted out: a backend may repeat what it was sent.
    func hiding(_ secrets: [String]) -> BackendError {
        var copy = self
        copy.code = code.hiding(secrets)
        copy.message = message.hiding(secrets)
        copy.requestID = requestID?.hiding(secrets)
        return copy
    }
}

extension String {
    fileprivate func hiding(_ secrets: [String]) -> String {
        var bytes = Array(utf8)
        for secret in secrets where !secret.isEmpty {
            let pattern = Array(secret.utf8)
            var result: [UInt8] = []
            var index = 0
            while index < bytes.count {
                if bytes[index...].starts(with: pattern) {
                    result += Array("[hidden]".utf8)
                    index += pattern.count
                } else {
                    result.append(bytes[index])
                    index += 1
                }
            }
            bytes = result
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
