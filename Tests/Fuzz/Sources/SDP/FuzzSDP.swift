@testable import VoiceCore

/// Reads any bytes as a description, asks what both sides ask of it, and answers it; our own answer must be readable.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSDP(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    guard let description = try? SessionDescription(parsing: text) else { return 0 }
    _ = try? description.negotiated(as: .answer)
    let local = LocalDescription(
        credentials: ICECredentials(fragment: "abcd", password: "abcdefghijklmnopqrstuvwx"),
        fingerprint: Fingerprint(algorithm: .sha256, digest: Array(0..<32)), candidates: [], ssrc: 1, cname: "c",
        entropy: &entropy)
    guard let answer = try? local.answer(to: description) else { return 0 }
    do {
        _ = try SessionDescription(parsing: answer).negotiated(as: .answer)
    } catch {
        fatalError("our own answer is refused: \(error)\n\(answer)")
    }
    return 0
}

/// libFuzzer calls from one thread only.
nonisolated(unsafe) private var entropy = Entropy { 1 }
