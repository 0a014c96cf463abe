import Testing
import VoiceCore

@testable import Appliance

/// What becomes of each answer that a backend, or something in front of it, may give to an offer.
@Suite struct BackendAnswerTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var answer: @Sendable (TestServer.Connection) -> Void
        var kind: BackendError.Kind?
        var code = ""
        var status: Int?
        var retryAfter: Duration?
        var requestID: String?
        var says = ""

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "status 201", answer: { $0.answer(201, goodAnswer) }),
        Row(
            name: "chunked",
            answer: {
                $0.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                for part in [goodAnswer.prefix(10), goodAnswer.dropFirst(10)] {
                    $0.send("\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n")
                }
                $0.send("0\r\n\r\n")
            }),
        Row(
            name: "no length, ended by closing",
            answer: {
                $0.send("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n\(goodAnswer)")
            }),
        Row(
            name: "canonical envelope",
            answer: {
                $0.answer(
                    409,
                    #"{"error":"voice_busy","error_description":"One voice at a time.","status":409,"request_id":"req_7","data":{"retryAfter":30}}"#
                )
            }, kind: .refused, code: "voice_busy", status: 409, retryAfter: .seconds(30), requestID: "req_7",
            says: "One voice at a time."),
        Row(
            name: "error and message", answer: { $0.answer(401, #"{"error":"invalid_token","message":"Expired."}"#) },
            kind: .unauthorized, code: "invalid_token", status: 401, says: "Expired."),
        Row(
            name: "App Attest", answer: { $0.answer(401, #"{"error":"app_attest_required"}"#) },
            kind: .invalidConfiguration, code: "app_attest_required", status: 401, says: "only an Apple device"),
        Row(
            name: "forbidden to this user", answer: { $0.answer(403, #"{"error":"forbidden","message":"Not here."}"#) },
            kind: .refused, code: "forbidden", status: 403, says: "what this key and user may do"),
        Row(
            name: "forbidden to this key", answer: { $0.answer(403, #"{"error":"invalid_api_key"}"#) },
            kind: .unauthorized, code: "invalid_api_key", status: 403, says: "fresh secret"),
        Row(
            name: "forbidden with a challenge",
            answer: { $0.answer(403, headers: "WWW-Authenticate: Bearer\r\n", #"{"error":"forbidden"}"#) },
            kind: .unauthorized, code: "forbidden", status: 403),
        Row(
            name: "sign-in page by its own status",
            answer: { $0.answer(511, type: "text/html", "<html>sign in</html>") },
            kind: .captivePortal, code: "captive_portal", status: 511, says: "sign this machine in"),
        Row(
            name: "sent to a sign-in page",
            answer: { $0.answer(302, type: nil, headers: "Location: https://login.portal.example/?u=1\r\n", "") },
            kind: .captivePortal, code: "captive_portal", status: 302),
        Row(
            name: "sent elsewhere on the same host",
            answer: { $0.answer(302, type: nil, headers: "Location: /other\r\n", "") },
            kind: .refused, code: "unknown_error", status: 302, says: "write the final address"),
        Row(
            name: "not found", answer: { $0.answer(404, #"{"error":"not_found","path":"/voice/x","method":"POST"}"#) },
            kind: .refused, code: "not_found", status: 404, says: "check url and chat"),
        Row(
            name: "rate limited",
            answer: {
                $0.answer(
                    429, headers: "Retry-After: 7\r\n",
                    #"{"error":"rate_limited","message":"Slow down.","retry_after":9}"#)
            }, kind: .busy, code: "rate_limited", status: 429, retryAfter: .seconds(7), says: "Slow down."),
        Row(
            name: "rate limited in the body only",
            answer: { $0.answer(429, #"{"error":"rate_limited","retry_after":9}"#) },
            kind: .busy, code: "rate_limited", status: 429, retryAfter: .seconds(9), says: "for 9 s"),
        Row(
            name: "handler error with stack",
            answer: {
                $0.answer(
                    500, headers: "X-Request-Id: r9\r\n", #"{"error":"handler_error","message":"x","stack":"a\nb"}"#)
            },
            kind: .refused, code: "handler_error", status: 500, requestID: "r9"),
        Row(
            name: "nested error",
            answer: {
                $0.answer(
                    400,
                    #"{"error":{"message":"Invalid offer.","type":"bad_request","code":"invalid_offer","param":null}}"#)
            },
            kind: .refused, code: "invalid_offer", status: 400, says: "Invalid offer."),
        Row(
            name: "gateway message only", answer: { $0.answer(503, #"{"message":"no Route matched"}"#) },
            kind: .busy, code: "unknown_error", status: 503, says: "no Route matched"),
        Row(
            name: "sentence as error", answer: { $0.answer(500, #"{"error":"It broke, sadly."}"#) }, kind: .refused,
            code: "unknown_error", status: 500, says: "It broke, sadly."),
        Row(
            name: "fields of wrong types",
            answer: { $0.answer(418, #"{"error":[1],"message":{},"retry_after":"x","data":3}"#) },
            kind: .refused, code: "unknown_error", status: 418),
        Row(
            name: "HTML of a gateway", answer: { $0.answer(502, type: "text/html", "<html>502 Bad Gateway</html>") },
            kind: .refused, code: "unknown_error", status: 502),
        Row(
            name: "error without a body", answer: { $0.answer(504, type: nil, "") }, kind: .refused,
            code: "unknown_error", status: 504),
        Row(
            name: "truncated error",
            answer: {
                $0.send("HTTP/1.1 503 Busy\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"err")
            },
            kind: .busy, code: "unknown_error", status: 503),
        Row(
            name: "oversized error", answer: { $0.answer(500, String(repeating: "x", count: 1_100_000)) },
            kind: .refused, code: "unknown_error", status: 500),
        Row(
            name: "control characters in the message",
            answer: { $0.answer(500, #"{"error":"a","message":"b\u001b[2J\nc"}"#) },
            kind: .refused, code: "a", status: 500, says: #""b [2J c""#),
        Row(
            name: "HTML with status 200", answer: { $0.answer(type: "text/html", "v=0 portal") },
            kind: .captivePortal, code: "captive_portal", status: 200, says: "text/html"),
        Row(
            name: "HTML that calls itself JSON", answer: { $0.answer("\n<!DOCTYPE html><title>Welcome</title>") },
            kind: .captivePortal, code: "captive_portal", status: 200),
        Row(
            name: "a bare SDP", answer: { $0.answer(type: "application/sdp", "v=0\r\n") }, kind: .invalidAnswer,
            code: "invalid_answer", status: 200, says: "set kind = whip"),
        Row(
            name: "no type", answer: { $0.answer(type: nil, goodAnswer) }, kind: .invalidAnswer, code: "invalid_answer",
            status: 200, says: "of no type"),
        Row(
            name: "empty", answer: { $0.answer("") }, kind: .invalidAnswer, code: "invalid_answer", status: 200,
            says: "not a JSON object"),
        Row(
            name: "an array", answer: { $0.answer("[1]") }, kind: .invalidAnswer, code: "invalid_answer", status: 200),
        Row(
            name: "deeply nested", answer: { $0.answer(String(repeating: "[", count: 200_000)) }, kind: .invalidAnswer,
            code: "invalid_answer", status: 200),
        Row(
            name: "no sdp", answer: { $0.answer(#"{"id":"a"}"#) }, kind: .invalidAnswer, code: "invalid_answer",
            status: 200,
            says: "no sdp"),
        Row(
            name: "no id", answer: { $0.answer(#"{"sdp":"v=0\r\n"}"#) }, kind: .invalidAnswer, code: "invalid_answer",
            status: 200, says: "id"),
        Row(
            name: "not an SDP", answer: { $0.answer(#"{"id":"a","sdp":"{\"error\":1}"}"#) }, kind: .invalidAnswer,
            code: "invalid_answer", status: 200, says: "v=0"),
        Row(
            name: "truncated",
            answer: {
                $0.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n\(goodAnswer)")
            },
            kind: .invalidAnswer, code: "invalid_answer", status: 200, says: "ended before it was whole"),
        Row(
            name: "oversized",
            answer: { $0.answer(#"{"id":"a","sdp":"v=0\#(String(repeating: "x", count: 1_100_000))"}"#) },
            kind: .invalidAnswer, code: "invalid_answer", status: 200, says: "longer than"),
        Row(
            name: "reset in the body",
            answer: {
                $0.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{")
                $0.reset()
            }, kind: nil, code: "", status: nil),
        Row(
            name: "closed without an answer", answer: { _ in }, kind: .noAnswer, code: "no_answer",
            says: "not sent again"),
        Row(
            name: "reset without an answer", answer: { $0.reset() }, kind: .noAnswer, code: "no_answer",
            says: "not sent again"),
        Row(
            name: "not HTTP", answer: { $0.send("SSH-2.0-x\r\n") }, kind: .invalidAnswer, code: "invalid_answer",
            says: "does not speak HTTP"),
    ]

    @Test(arguments: rows)
    func eachAnswerHasItsOutcome(_ row: Row) async throws {
        let server = TestServer { request, connection in
            row.answer(connection)
            return false
        }
        defer { server.stop() }
        let client = try BackendClient(.test(server))
        var started: BackendVoice?
        let error = await backendError { started = try await client.start(offer: "v=0") }
        guard row.name != "reset in the body" else {
            // The reset may overtake what was sent before it: either way it is an error, and nothing is sent again.
            #expect(error?.kind == .invalidAnswer || error?.kind == .noAnswer)
            return
        }
        guard let kind = row.kind else {
            #expect(error == nil)
            #expect(started?.started.id == "voice-1")
            return
        }
        #expect(error?.kind == kind)
        #expect(error?.code == row.code)
        #expect(error?.status == row.status)
        #expect(error?.retryAfter == row.retryAfter)
        #expect(error?.requestID == row.requestID)
        #expect(error?.message.contains(row.says) == true || row.says.isEmpty, "\(error?.message ?? "")")
        #expect(error.map { $0.message.count < 700 } == true)
    }
}
