/// Tells the answers of a network's sign-in page from a backend's. Pure.
enum CaptivePortal {
    /// Whether an answer, to a request that was sent to `url`, was not given by whom it was sent to.
    static func answered(_ response: HTTPResponse, to url: String) -> Bool {
        if response.status == 511 { return true }  // RFC 6585 6
        // Over TLS the answer is the backend's own.
        guard let asked = WebAddress(url), !asked.isSecure else { return false }
        if response.isSuccess { return response.isHTML }
        return sendsElsewhere(response, asked)
    }

    /// Whether what answers in plain text at a host that should be reached by TLS sends to a site of somebody else's.
    static func answeredProbe(_ response: HTTPResponse, to url: String) -> Bool {
        guard let asked = WebAddress(url) else { return false }
        return response.status == 511 || sendsElsewhere(response, asked)
    }

    private static func sendsElsewhere(_ response: HTTPResponse, _ asked: WebAddress) -> Bool {
        guard (300..<400).contains(response.status), let location = response.location,
            let target = asked.resolving(location)
        else { return false }
        return target.site != asked.site
    }

    static func error(at place: String, _ response: HTTPResponse? = nil) -> BackendError {
        let detail = response.map {
            " (status \($0.status)\($0.mediaType.map { ", \(ErrorEnvelope.readable($0))" } ?? ""))"
        }
        return BackendError(
            .captivePortal,
            """
            Not the backend but a sign-in page of the network answered for \(place)\(detail ?? ""): sign this machine in to the \
            network or have it let through; if there is no such page, url in [backend] names a web page.
            """, status: response?.status)
    }
}
